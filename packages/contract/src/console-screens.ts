/** The screens of the console: `/{workspace}/{project}/{screen}`. At any other address its page says 404. */
export const CONSOLE_SCREENS = [
  'overview',
  'events',
  'deliveries',
  'endpoints',
  'ingest-keys',
  'rejections',
  'rules',
  'destinations',
] as const
export type ConsoleScreen = (typeof CONSOLE_SCREENS)[number]
