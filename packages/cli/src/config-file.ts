import type { Connection } from './connection.ts'
import { EXIT, Failure, unreachable } from './failure.ts'
import { http } from './http.ts'
import { readData } from './send/data.ts'

type Read = {
  /** With every number as the file writes it. */
  readonly config: unknown
  /** The same configuration with ordinary numbers. */
  readonly plain: unknown
}

type Reviver = (key: string, value: unknown, reading: { readonly source?: string }) => unknown
type SourceJson = {
  readonly rawJSON: (source: string) => unknown
  readonly parse: (text: string, revive: Reviver) => unknown
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node has these, but TypeScript's library lacks them
const json = JSON as unknown as SourceJson

/** A configuration from a file, or from stdin. `toReplace`: the caller overwrites it, so it must be one. */
export async function readConfigFile(
  file: string,
  { toReplace = false }: { readonly toReplace?: boolean } = {},
): Promise<Read> {
  const text = (await readData(file === '-' ? '-' : `@${file}`)).toString()
  try {
    const plain: unknown = JSON.parse(text)
    if (typeof plain !== 'object' || plain === null || !('version' in plain)) throw new SyntaxError('it has no version')
    const config = json.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
    )
    return { config, plain }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Failure(
      toReplace
        ? `${file} already exists and is not a Postroad configuration. Name another file.`
        : `${file} is not a valid configuration: ${error.message}. Create one with "config pull".`,
      EXIT.usage,
    )
  }
}

const PROBLEMS_MAX = 5

/** Checks a configuration by the schema of the server, so that a command line of any version applies the same rules. */
export async function checkConfig(
  { baseUrl }: Pick<Connection, 'baseUrl'>,
  { file, plain }: { readonly file: string; readonly plain: unknown },
): Promise<void> {
  const url = `${baseUrl}/docs/project-config.schema.json`
  let response: Response
  try {
    response = await http(url)
  } catch (cause) {
    throw await unreachable(url, cause)
  }
  if (!response.ok)
    throw new Failure(`${baseUrl} does not serve the configuration schema. It may run an older version of Postroad.`)
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  // The code for this schema runs once. Improving it, and checking the schema of the server, would take longer than that.
  const quick = { validateSchema: false, code: { optimize: false } } as const
  const check = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, ...quick }).compile(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema is an object
    (await response.json()) as object,
  )
  if (check(plain)) return
  const problems = (check.errors ?? []).map(({ instancePath, message = '', params }) => {
    const extra = 'additionalProperty' in params ? ` ("${String(params['additionalProperty'])}")` : ''
    return { depth: instancePath.split('/').length, text: `${placeOf(instancePath)}: ${message}${extra}` }
  })
  // Every member of a choice reports a problem; the deepest problem is the most specific.
  const deepest = Math.max(...problems.map(({ depth }) => depth))
  const said = [...new Set(problems.filter(({ depth }) => depth === deepest).map(({ text }) => text))]
  throw new Failure(`${file}: ${said.slice(0, PROBLEMS_MAX).join('; ')}.`, EXIT.usage)
}

/** `/rules/0/name` → `rules[0].name` */
function placeOf(pointer: string): string {
  const place = pointer
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
    .replace(/^\./, '')
  return place === '' ? 'the file' : place.replaceAll('~1', '/').replaceAll('~0', '~')
}
