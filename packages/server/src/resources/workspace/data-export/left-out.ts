/** The other tables of a workspace, with the reason why no file contains them, for the manifest. Each table is either here or in `contents.ts`. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  credentials: 'Hashes of keys and of URLs, which admit senders and clients.',
  sessions: 'Hashes of the secrets that sign people in.',
  one_time_tokens: 'Hashes of links that sign people in.',
  idempotency_keys: 'Stored for days, to recognize a repeated event.',
  idempotency_records: 'Sealed responses, stored for a day, to recognize a repeated request.',
  stream_connections: 'The current connections to the live stream.',
  ai_agent_usage: 'Monthly token counts of the runs above.',
  ai_run_steps: 'The calls of the runs above, which the API shows one run at a time.',
  workflow_pauses: 'Workspaces whose workflow instances are being paused or resumed.',
  lanes: 'The current sender of each destination, and its breaker.',
  orphaned_requests: 'Requests that a dead sender may have in progress, for the minute that they can last.',
  audit_anchors:
    'Seals of the ends of the audit log, valid only on this installation. The file of the log contains the hashes of its rows.',
  project_rollups: 'Counts of the events above by the minute and the hour.',
  destination_rollups: 'Counts of the attempts above by the minute and the hour.',
  dataset_schemas: 'Learned from the records above.',
  dataset_drifts: 'Learned from the records above.',
  deleted_datasets: 'Deleted datasets whose records are being erased.',
  record_columns: 'Keys of the records above.',
  quarantined_requests:
    'Sealed requests that nobody has proven to come from the sender, which are deleted after 72 hours at most.',
  refused_samples: 'Redacted samples of refused requests, which are deleted after 7 days.',
  billing_accounts: 'The subscription at the payment provider, which GET billing shows.',
  network_access: 'The addresses that may use the workspace, which GET settings/network shows.',
  data_exports: 'Exports themselves.',
  data_export_chunks: 'Files of exports.',
}
