# pip install duckdb
import duckdb

BASE = "https://tokenboard.example/"

top = duckdb.execute(
    """
    SELECT model_permaslug, sum(total_tokens)::BIGINT AS tokens
    FROM read_parquet($path)
    WHERE model_permaslug <> 'other' AND date > (SELECT max(date) FROM read_parquet($path)) - 7
    GROUP BY model_permaslug
    ORDER BY tokens DESC
    LIMIT 10
    """,
    {"path": BASE + "datasets/rankings-daily/v1/latest/rankings-daily.parquet"},
)
for model, tokens in top.fetchall():
    print(f"{model},{tokens}")
