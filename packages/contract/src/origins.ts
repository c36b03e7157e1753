/** The parts of a project that make events without a sender. */
export const ORIGIN_KINDS = ['source', 'cron_trigger', 'ws_trigger', 'workflow', 'ai_run', 'alert'] as const

/** The words for them. A workflow is named by its run, and so is an agent. */
export const ORIGIN_WORDS: Readonly<Record<(typeof ORIGIN_KINDS)[number], string>> = {
  source: 'source',
  cron_trigger: 'cron trigger',
  ws_trigger: 'WebSocket trigger',
  workflow: 'workflow run',
  ai_run: 'AI run',
  alert: 'alert',
}
