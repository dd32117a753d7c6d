# Fetches all rows as CSV and proves that they are what was published.
BASE='https://tokenboard.example/'

set -eu
latest="${BASE}datasets/rankings-daily/v1/latest"
for file in rankings-daily.csv SHA256SUMS; do
  curl --fail --silent --show-error --location --output "$file" "$latest/$file"
done
grep ' rankings-daily.csv$' SHA256SUMS | sha256sum --check
