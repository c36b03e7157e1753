import { startBrowser } from '../packages/console/test/stage/shared-browser.ts'
import {
  globalSetup as startDatabase,
  globalTeardown as stopDatabase,
} from '../packages/server/test/stage/global-setup.ts'

/**
 * The resources that the files of a run share: one PostgreSQL, and one browser when a test of the console is among
 * them.
 */
let stopBrowser: () => Promise<void> = () => Promise.resolve()

export async function globalSetup(): Promise<void> {
  // The arguments name batches of files, so `scripts/test.ts` says whether a test of the console is among them.
  const isConsole = process.env['POSTROAD_TEST_CONSOLE'] === '1'
  const [, stop] = await Promise.all([startDatabase(), isConsole ? startBrowser() : stopBrowser])
  stopBrowser = stop
}

export async function globalTeardown(): Promise<void> {
  await stopBrowser()
  await stopDatabase()
}
