import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser } from 'playwright-core'

/**
 * One browser process for a whole run, started by the global setup. Each test file connects to it, and each page has a
 * separate context, so files share no cookie and no storage. A file that disconnects takes its contexts with it.
 */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const BUILD = fileURLToPath(new URL('../../build/main.ts', import.meta.url))
const ENDPOINT = 'POSTROAD_TEST_BROWSER'

/** Only a browser that hangs takes this long, even on a machine that is ten times slower than usual. */
export const PATIENCE_MS = 60_000

/** The reason why no browser can start here; false when one can. */
export const noChromium: string | false = existsSync(CHROMIUM)
  ? false
  : `There is no ${CHROMIUM}. Install Chromium, or set CHROMIUM to one.`

/** The same reason in the form of `test(…, { skip })`, for browser tests. */
export const noBrowser: string | false = noChromium === false ? false : `NO BROWSER TESTS: ${noChromium}`

/** Builds the console, unless its build is of these sources. */
export function buildConsole(): void {
  if (process.env[ENDPOINT] === undefined) execFileSync(process.execPath, [BUILD], { stdio: 'pipe' })
}

/** Builds the console once, before any test needs it. */
export async function startBrowser(): Promise<() => Promise<void>> {
  buildConsole()
  if (noBrowser !== false) {
    process.env[ENDPOINT] = ''
    return () => Promise.resolve()
  }
  const server = await chromium.launchServer({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
    timeout: PATIENCE_MS,
  })
  process.env[ENDPOINT] = server.wsEndpoint()
  return () => server.close()
}

export function connectBrowser(): Promise<Browser> {
  const endpoint = process.env[ENDPOINT] ?? ''
  if (endpoint === '') throw new Error('Run tests with `npm test`: its global setup starts the browser.')
  return chromium.connect(endpoint, { timeout: PATIENCE_MS })
}
