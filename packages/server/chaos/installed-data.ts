import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './server-process.ts'

/** The output of `bootstrap --json`, and the folder of the installation, with no process running on it. */
export type Installed = {
  readonly workspace: { readonly id: string; readonly slug: string }
  readonly webhook: { readonly public_url: string }
  readonly api_key: string
}

type Template = { readonly dataDir: string; readonly installed: Installed }

let template: Promise<Template> | undefined

/**
 * Puts an installation into an empty data folder. It is created once per process and copied for each stage, because initdb, the
 * migrations and the first bootstrap take longer than a short run.
 */
export async function layData(dataDir: string, env: Readonly<Record<string, string>>): Promise<Installed> {
  template ??= makeTemplate(env)
  const { dataDir: from, installed } = await template
  await cp(from, dataDir, { recursive: true })
  return installed
}

async function makeTemplate(env: Readonly<Record<string, string>>): Promise<Template> {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-chaos-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  const { code, printed, said } = await runCommand(['bootstrap', '--json'], { ...env, DATA_DIR: dataDir })
  if (code !== 0) throw new Error(`bootstrap --json ended with ${code}: ${said}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `bootstrap --json` prints this shape
  return { dataDir, installed: JSON.parse(printed) as Installed }
}
