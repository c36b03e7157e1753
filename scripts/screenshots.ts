import { resolve } from 'node:path'
import { takePictures } from '../packages/console/test/pictures/take.ts'
import { noChromium, startBrowser } from '../packages/console/test/stage/shared-browser.ts'
import { globalSetup, globalTeardown } from '../packages/server/test/stage/global-setup.ts'

/**
 * `npm run screenshots [FOLDER [NAME…]]` starts a server with a separate PostgreSQL on free ports, fills it through the API, and writes a
 * picture of every screen at 390, 1024 and 1440 pixels, in light and dark, into FOLDER. NAME selects the screens whose name contains it.
 * It stops everything that it started, even after Ctrl-C.
 */
const [folder = 'screenshots', ...names] = process.argv.slice(2)

let stopBrowser: () => Promise<void> = () => Promise.resolve()

async function stop(): Promise<void> {
  await stopBrowser()
  await globalTeardown()
}

async function main(): Promise<number> {
  if (noChromium !== false) {
    console.error(`No screenshots: ${noChromium}`)
    return 1
  }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => void stop().finally(() => process.exit(code)))
  try {
    await globalSetup()
    stopBrowser = await startBrowser()
    const { count, failed } = await takePictures({ folder: resolve(folder), names, say: console.log })
    console.log(`${count} pictures are in ${folder}.`)
    for (const line of failed) console.error(`No picture of ${line}`)
    return failed.length > 0 || count === 0 ? 1 : 0
  } finally {
    await stop()
  }
}

process.exitCode = await main()
