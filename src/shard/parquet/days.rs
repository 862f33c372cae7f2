//! `date64` becomes `date32`: both are days, and no reader of Parquet but Arrow's own knows the first.

use std::sync::Arc;

use arrow_array::types::Date32Type;
use arrow_array::{Array, ArrayRef, Date64Array, make_array};
use arrow_schema::{DataType, Field};

const MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// The field with `date32` for every `date64` in its type.
pub fn with_days(field: &Arc<Field>) -> Arc<Field> {
    Arc::new(field.as_ref().clone().with_data_type(data_type(field.data_type())))
}

fn data_type(old: &DataType) -> DataType {
    match old {
        DataType::Date64 => DataType::Date32,
        DataType::List(inner) => DataType::List(with_days(inner)),
        DataType::LargeList(inner) => DataType::LargeList(with_days(inner)),
        DataType::FixedSizeList(inner, size) => DataType::FixedSizeList(with_days(inner), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_days).collect()),
        DataType::Map(entries, sorted) => DataType::Map(with_days(entries), *sorted),
        other => other.clone(),
    }
}

/// The values in the type that [`with_days`] gives them.
pub fn to_days(array: &ArrayRef) -> anyhow::Result<ArrayRef> {
    let data_type = data_type(array.data_type());
    if &data_type == array.data_type() {
        return Ok(array.clone());
    }
    let data = array.to_data();
    if data.data_type() == &DataType::Date64 {
        let dates = Date64Array::from(data);
        return Ok(Arc::new(
            dates.unary_opt::<_, Date32Type>(|time| i32::try_from(time / MILLISECONDS).ok()),
        ));
    }
    let inner = data.child_data().iter().map(|inner| Ok(to_days(&make_array(inner.clone()))?.into_data()));
    let inner = inner.collect::<anyhow::Result<_>>()?;
    Ok(make_array(data.into_builder().data_type(data_type).child_data(inner).build()?))
}
