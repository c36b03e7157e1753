import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/**
 * The one file that knows the database driver, and mends it. When PostgreSQL closes connections under load, version 3.4.9
 * ends the process or leaves statements without an answer for ever (porsager/postgres #1154, #1168, #1208), and it keeps
 * what it no longer needs. It also teaches it to say for which workspace a statement is run, in the statement's own
 * message (docs/adr/0026).
 */
type Mend = { readonly found: string; readonly mended: string }

/** Sets it until the end of the transaction; gives no row, which the driver would take for one of the statement's own. */
export const SAY_WORKSPACE = `select 1 where set_config('postroad.workspace', $1, true) is null`

const CONNECTION: readonly Mend[] = [
  // The next statement of a transaction, or its rollback, is written to a socket that is gone: an exception nobody can catch.
  {
    found: '  function execute(q) {\n',
    mended: `  function execute(q) {
    if (socket === null) {
      queryError(q, Errors.connection('CONNECTION_CLOSED', options, socket))
      return true
    }
`,
  },
  // What was still to be written, or the last error, is taken over into the next connection: it never gets ready.
  {
    found: '    clearImmediate(nextWriteTimer)\n    socket.removeListener',
    mended:
      '    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = errorResponse = null\n    socket.removeListener',
  },
  // The first question on a new connection is asked by nobody who could hear that it failed.
  {
    found: '        return fetchArrayTypes()\n',
    mended: '        return fetchArrayTypes().catch(() => undefined)\n',
  },
  // A statement that came between the error and the close of a socket is forgotten.
  {
    found: `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))\n`,
    mended: `    if (query || sent.length) error(Errors.connection('CONNECTION_CLOSED', options, socket))\n    query = null\n`,
  },
  // What goes out before one Sync is one transaction, so a setting that is local to it ends with the statement, however that ends.
  {
    found: '  function prepared(q) {\n    return Buffer.concat([\n',
    mended: `  function prepared(q) {
    q.saysWorkspace = q.options.workspace !== undefined
    return Buffer.concat([
      ...(q.saysWorkspace ? [
        Parse("${SAY_WORKSPACE}", [0], [25]),
        Bind([q.options.workspace], [25]),
        b().E().str(b.N).i32(0).end()
      ] : []),
`,
  },
  // The first of its two endings is that of the setting.
  {
    found: '  function CommandComplete(x) {\n',
    mended: `  function CommandComplete(x) {
    if (query.saysWorkspace) {
      query.saysWorkspace = false
      return
    }
`,
  },
]

// V8 makes a function that is written where it is assigned to a member among its long-lived objects, as if it were a
// method. These belong to one statement, whose parameters, and whoever waited for it, then outlived every small garbage
// collection: about half of what ingest allocates was copied for nothing.
const QUERY: readonly Mend[] = [
  {
    found:
      '    this.resolve = x => (this.active = false, resolve(x))\n    this.reject = x => (this.active = false, reject(x))\n',
    mended: `    const onresolve = x => (this.active = false, resolve(x))
    const onreject = x => (this.active = false, reject(x))
    this.resolve = onresolve
    this.reject = onreject
`,
  },
]
const INDEX: readonly Mend[] = [
  // In turn, each connection rests longest before it is used: the caches of its backend are cold, and every one of them makes each plan.
  { found: '      return go(open.shift(), query)\n', mended: '      return go(open.pop(), query)\n' },
  {
    found: '      acc[name] = (x) => new Parameter(x, type.to)\n',
    mended: `      const parameterOf = (x) => new Parameter(x, type.to)
      acc[name] = parameterOf
`,
  },
  {
    found: '      sql.prepare = x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)\n',
    mended: `      const prepareAs = x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)
      sql.prepare = prepareAs
`,
  },
  {
    found:
      '      c.reserved = () => queries.length\n        ? c.execute(queries.shift())\n        : move(c, reserved)\n',
    mended: `      const next = () => queries.length
        ? c.execute(queries.shift())
        : move(c, reserved)
      c.reserved = next
`,
  },
]

// The list of idle connections is never empty while one is idle, so it kept a place for each statement ever sent, and
// searched all of them at the next one.
const QUEUE: readonly Mend[] = [
  { found: 'const index = xs.indexOf(x)', mended: 'const at = xs.indexOf(x, index)' },
  // For the list of idle connections, see above.
  {
    found: '    push: (x) => (xs.push(x), x),\n',
    mended: `    push: (x) => (xs.push(x), x),
    pop: () => {
      const out = xs.pop()
      if (index === xs.length) {
        index = 0
        xs = []
      }
      return out
    },
`,
  },
  { found: 'return index === -1', mended: 'return at === -1' },
  { found: 'xs.splice(index, 1)', mended: 'xs.splice(at, 1)' },
  {
    found: '      } else {\n',
    mended: '      } else if (index === 64) {\n        xs = xs.slice(index)\n        index = 0\n      } else {\n',
  },
]

const MENDS: ReadonlyMap<string, readonly Mend[]> = new Map([
  ['connection', CONNECTION],
  ['index', INDEX],
  ['query', QUERY],
  ['queue', QUEUE],
])

const DRIVER_FILE = /\/postgres\/src\/([a-z]+)\.js$/
const mended = new Set<string>()

/** The text of one of the driver's files with every fault mended; throws when one is not found, so that a new version is looked at first. */
function mend(file: string, { text, mends }: { text: string; mends: readonly Mend[] }): string {
  mended.add(file)
  return mends.reduce((now, fault) => {
    if (now.split(fault.found).length !== 2)
      throw new Error('The database driver has changed: see whether it still needs platform/driver.ts.')
    return now.replace(fault.found, () => fault.mended)
  }, text)
}

const hooks = registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    const file = DRIVER_FILE.exec(url)?.[1] ?? ''
    const mends = MENDS.get(file)
    return mends === undefined
      ? loaded
      : { ...loaded, source: mend(file, { text: readFileSync(new URL(url), 'utf8'), mends }) }
  },
})

export const { default: postgres } = await import('postgres')

hooks.deregister()
if (mended.size < MENDS.size)
  throw new Error('The database driver was loaded before platform/driver.ts could patch it.')
