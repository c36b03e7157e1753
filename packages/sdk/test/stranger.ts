import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../../..')

/** A project whose only dependency is the package, which was packed, and installed without a network. */
export class Stranger {
  readonly #folder = mkdtempSync(join(tmpdir(), 'postroad-sdk-test-'))
  readonly project = join(this.#folder, 'project')
  readonly installed: string
  readonly #package: 'sdk' | 'verify'

  constructor(name: 'sdk' | 'verify' = 'sdk') {
    this.#package = name
    this.installed = join(this.project, 'node_modules/@postroad', name)
  }

  async install(): Promise<void> {
    const built = join(this.#folder, 'built')
    await succeeds(process.execPath, [join(ROOT, 'packages', this.#package, 'build/main.ts'), built], { cwd: ROOT })
    await succeeds('npm', ['pack', built, '--silent'], { cwd: this.#folder })
    mkdirSync(this.project)
    this.write('package.json', '{"name":"stranger","type":"module","private":true}')
    const [packed = ''] = readdirSync(this.#folder).filter((name) => name.endsWith('.tgz'))
    const words = ['install', '--offline', '--no-audit', '--no-fund', join(this.#folder, packed)]
    await succeeds('npm', words, { cwd: this.project })
    for (const [name, text] of this.examples()) this.write(name, text)
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.project, file), text)
  }

  /** The programs of the README, by the file name in their first line. */
  examples(): readonly (readonly [string, string])[] {
    const text = readFileSync(join(this.installed, 'README.md'), 'utf8')
    return [...text.matchAll(/^```ts\n\/\/ (\S+\.ts)\n([^]*?)^```$/gm)].map(([, name = '', code = '']) => [name, code])
  }

  /** Compiles files of the project as strictly as TypeScript can, and returns its complaints. */
  async complaints(files: readonly string[], options: object): Promise<string> {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2022',
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      types: ['node'],
      lib: ['es2023'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      ...options,
    }
    this.write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    return (await run(process.execPath, [compiler], { cwd: this.project })).said
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export const NODE_NEXT = { module: 'nodenext', moduleResolution: 'nodenext' }
export const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' }

type Place = { readonly cwd: string; readonly env?: Readonly<Record<string, string>> }

function run(
  file: string,
  args: readonly string[],
  { cwd, env = {} }: Place,
): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, said }))
  })
}

/** Runs a program to its end, and returns its output. */
export async function succeeds(file: string, args: readonly string[], at: Place): Promise<string> {
  const { code, said } = await run(file, args, at)
  assert.equal(code, 0, said)
  return said
}
