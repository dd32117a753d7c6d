# install.packages(c("arrow", "dplyr"))
library(dplyr)

base <- "https://tokenboard.example/"

path <- paste0(base, "datasets/rankings-daily/v1/latest/rankings-daily.parquet")
file <- tempfile(fileext = ".parquet")
download.file(path, file, mode = "wb", quiet = TRUE)
rows <- arrow::read_parquet(file)
rows |>
  filter(model_permaslug != "other", date > max(date) - 7) |>
  summarise(tokens = sum(total_tokens), .by = model_permaslug) |>
  slice_max(tokens, n = 10)
