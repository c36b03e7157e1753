import { task } from '../platform/heavy/task.ts'

export type { ReadConfig } from './config-entries.ts'

/** Reads a configuration that was sent. No other task needs schemas, which take more memory than everything else in a thread. */
export const readConfigText = task('config.read', async (text: string) => {
  const { configOf } = await import('./config-entries.ts')
  return configOf(text)
})
