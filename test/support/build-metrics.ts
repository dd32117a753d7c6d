/** What a build writes about itself for the textfile collector of node_exporter. */
export const BUILD_METRICS: readonly string[] = [
  'tokenboard_build_last_run_timestamp_seconds',
  'tokenboard_build_last_success_timestamp_seconds',
  'tokenboard_build_success',
  'tokenboard_build_duration_seconds',
  'tokenboard_build_stage_duration_seconds',
  'tokenboard_build_records',
  'tokenboard_build_rejected_share',
  'tokenboard_build_withheld_share',
  'tokenboard_build_source_newest_record_timestamp_seconds',
  'tokenboard_build_release_timestamp_seconds',
  'tokenboard_build_release_stale_after_timestamp_seconds',
]
