"""Groups the references of Parquet manifests by locator with DuckDB.

    group_by.py [--threads N] MANIFEST...

Prints how many locators occur how often, as one JSON object that is shaped like that part of the
report of `onepull analyze`. Without arguments only the imports are done. What does not fit
DuckDB's own bound, 80 % of the memory of the machine, goes through a temporary folder.
"""

import argparse
import json
import tempfile

import duckdb

QUERY = """
    SELECT k, count(*) AS objects FROM (
        SELECT count(*) AS k FROM read_parquet(?)
        WHERE modality = 'image' AND source_ref IS NOT NULL
        GROUP BY source_ref
    ) GROUP BY k ORDER BY k
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("manifests", nargs="*")
    options = parser.parse_args()
    if not options.manifests:
        return
    with tempfile.TemporaryDirectory() as temporary, duckdb.connect() as connection:
        connection.execute(f"SET threads = {options.threads}")
        connection.execute(f"SET temp_directory = '{temporary}'")
        rows = connection.execute(QUERY, [options.manifests]).fetchall()
    answer = {
        "references": sum(k * objects for k, objects in rows),
        "objects": sum(objects for _, objects in rows),
        "histogram": [{"k": k, "objects": objects} for k, objects in rows],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
