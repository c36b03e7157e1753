/** The screens of the console, at `/{workspace}/{project}/{screen}`. At any other address the console shows a 404 page. */
export const CONSOLE_SCREENS = [
  'overview',
  'events',
  'deliveries',
  'endpoints',
  'ingest-keys',
  'rejections',
  'rules',
  'destinations',
  'billing',
] as const
export type ConsoleScreen = (typeof CONSOLE_SCREENS)[number]
