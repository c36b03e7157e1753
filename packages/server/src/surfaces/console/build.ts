import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'

/** The output folder of the console's build. The server knows these files and none of the sources. */
const DIST = new URL('../../../../console/dist/', import.meta.url)

export type Encoding = 'br' | 'gzip' | undefined
type File = { readonly type: string; readonly bodies: ReadonlyMap<Encoding, Buffer> }

/** A build as it is served: the page, the hashes of its inline scripts, and the files that it loads. */
export type Build = {
  readonly page: File
  readonly scriptHashes: readonly string[]
  readonly files: ReadonlyMap<string, File>
  /** The page of customer portals. */
  readonly portal: { readonly page: File; readonly scriptHashes: readonly string[] } | undefined
  /** The script with which pages of other products embed a portal. */
  readonly embed: File | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** The newest build, read again after it has been replaced; undefined when there is none. */
export function createBuilds(folder = DIST): () => Build | undefined {
  let current: { readonly build: Build; readonly madeMs: number } | undefined
  return () => {
    const madeMs = statSync(new URL('index.html', folder), { throwIfNoEntry: false })?.mtimeMs
    if (madeMs === undefined) return current?.build
    if (current?.madeMs !== madeMs) current = { build: readBuild(folder), madeMs }
    return current.build
  }
}

function readBuild(folder: URL): Build {
  const names = new Set(readdirSync(folder))
  const files = new Map<string, File>()
  for (const name of names) {
    const type = TYPES[name.split('.').at(-1) ?? '']
    if (type !== undefined) files.set(name, { type, bodies: bodiesOf(folder, { name, names }) })
  }
  const page = files.get('index.html')
  const portal = files.get('portal.html')
  const embed = files.get('portal-embed.js')
  if (page === undefined) throw new Error('The build of the console has no page.')
  // Each of them has an address with its own headers. Their names have no hash, so browsers may not store them for long.
  for (const name of ['index.html', 'portal.html', 'portal-embed.js']) files.delete(name)
  return {
    page,
    scriptHashes: hashesOf(page),
    files,
    portal: portal && { page: portal, scriptHashes: hashesOf(portal) },
    embed,
  }
}

function bodiesOf(
  folder: URL,
  { name, names }: { name: string; names: ReadonlySet<string> },
): ReadonlyMap<Encoding, Buffer> {
  const bodies = new Map<Encoding, Buffer>([[undefined, readFileSync(new URL(name, folder))]])
  if (names.has(`${name}.br`)) bodies.set('br', readFileSync(new URL(`${name}.br`, folder)))
  if (names.has(`${name}.gz`)) bodies.set('gzip', readFileSync(new URL(`${name}.gz`, folder)))
  return bodies
}

/** The only inline script of the page sets the theme before anything is drawn. The policy allows it by its hash. */
const hashesOf = ({ bodies }: File): readonly string[] => hashesIn(String(bodies.get(undefined)))

function hashesIn(html: string): readonly string[] {
  return [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
}
