# pip install polars
import polars as pl

BASE = "https://tokenboard.example/"

rows = pl.read_parquet(BASE + "datasets/rankings-daily/v1/latest/rankings-daily.parquet")
top = (
    rows.filter(
        pl.col("date") > pl.col("date").max() - pl.duration(days=7),
        pl.col("model_permaslug") != "other",
    )
    .group_by("model_permaslug")
    .agg(pl.col("total_tokens").sum())
    .top_k(10, by="total_tokens")
    .sort("total_tokens", descending=True)
)
print(top.write_csv(include_header=False), end="")
