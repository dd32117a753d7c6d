# pip install pandas pyarrow
import pandas as pd

BASE = "https://tokenboard.example/"

rows = pd.read_parquet(BASE + "datasets/rankings-daily/v1/latest/rankings-daily.parquet")
week = rows[pd.to_datetime(rows["date"]) > pd.to_datetime(rows["date"]).max() - pd.Timedelta(days=7)]
named = week[week["model_permaslug"] != "other"]
top = named.groupby("model_permaslug")["total_tokens"].sum().nlargest(10)
print(top.to_csv(header=False), end="")
