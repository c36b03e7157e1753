/**
 * Patches for version 3.4.9 of the database driver. When PostgreSQL closes connections, that version ends the process or leaves
 * statements without an answer (porsager/postgres #1154, #1168, #1208), and it retains unused memory. A patch also sends a
 * statement's workspace in the statement's own message (docs/adr/0026). `driver.ts` applies them when it loads the driver, and
 * the bundle contains the patched files.
 */
type Patch = { readonly found: string; readonly patched: string }

/**
 * Sets the workspace until the end of the transaction. It returns no row, because the driver would take it for one of the
 * statement's own.
 */
export const SAY_WORKSPACE = `select 1 where set_config('postroad.workspace', $1, true) is null`

const CONNECTION: readonly Patch[] = [
  // Without this, the next statement of a transaction, or its rollback, is written to a closed socket: an exception that nobody
  // can catch.
  {
    found: '  function execute(q) {\n',
    patched: `  function execute(q) {
    if (socket === null) {
      queryError(q, Errors.connection('CONNECTION_CLOSED', options, socket))
      return true
    }
`,
  },
  // Without this, pending output and the last error carry over into the next connection, which then never becomes ready.
  {
    found: '    clearImmediate(nextWriteTimer)\n    socket.removeListener',
    patched:
      '    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = errorResponse = null\n    socket.removeListener',
  },
  // Nobody handles a failure of the first query on a new connection.
  {
    found: '        return fetchArrayTypes()\n',
    patched: '        return fetchArrayTypes().catch(() => undefined)\n',
  },
  // Without this, a statement that came between the error and the close of a socket never gets an answer.
  {
    found: `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))\n`,
    patched: `    if (query || sent.length) error(Errors.connection('CONNECTION_CLOSED', options, socket))\n    query = null\n`,
  },
  // Everything before one Sync is one transaction, so a local setting ends with the statement, however that ends.
  {
    found: '  function prepared(q) {\n    return Buffer.concat([\n',
    patched: `  function prepared(q) {
    q.saysWorkspace = q.options.workspace !== undefined
    return Buffer.concat([
      ...(q.saysWorkspace ? [
        Parse("${SAY_WORKSPACE}", [0], [25]),
        Bind([q.options.workspace], [25]),
        b().E().str(b.N).i32(0).end()
      ] : []),
`,
  },
  // The first of its two completions belongs to the setting.
  {
    found: '  function CommandComplete(x) {\n',
    patched: `  function CommandComplete(x) {
    if (query.saysWorkspace) {
      query.saysWorkspace = false
      return
    }
`,
  },
]

// When a function is written in an assignment to a member, V8 allocates it among its long-lived objects, as if it were a
// method. These functions belong to one statement. Its parameters and its waiting callers then outlived every small garbage
// collection: about half of the allocations of ingest were copied for nothing.
const QUERY: readonly Patch[] = [
  {
    found:
      '    this.resolve = x => (this.active = false, resolve(x))\n    this.reject = x => (this.active = false, reject(x))\n',
    patched: `    const onresolve = x => (this.active = false, resolve(x))
    const onreject = x => (this.active = false, reject(x))
    this.resolve = onresolve
    this.reject = onreject
`,
  },
]
const INDEX: readonly Patch[] = [
  // In rotation, each connection rests as long as possible before it is used: the caches of its backend are cold, and every
  // backend makes each plan. With an order that never changes, a quiet installation uses two or three, and the others end.
  { found: '      return go(open.shift(), query)\n', patched: '      return go(open.first(), query)\n' },
  {
    found: '      acc[name] = (x) => new Parameter(x, type.to)\n',
    patched: `      const parameterOf = (x) => new Parameter(x, type.to)
      acc[name] = parameterOf
`,
  },
  {
    found: '      sql.prepare = x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)\n',
    patched: `      const prepareAs = x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)
      sql.prepare = prepareAs
`,
  },
  {
    found:
      '      c.reserved = () => queries.length\n        ? c.execute(queries.shift())\n        : move(c, reserved)\n',
    patched: `      const next = () => queries.length
        ? c.execute(queries.shift())
        : move(c, reserved)
      c.reserved = next
`,
  },
]

// The list of idle connections is never empty while one is idle, so it retained a slot for each statement ever sent, and searched
// all of them at the next one.
const QUEUE: readonly Patch[] = [
  { found: 'const index = xs.indexOf(x)', patched: 'const at = xs.indexOf(x, index)' },
  // For the list of idle connections, see above.
  {
    found: '    push: (x) => (xs.push(x), x),\n',
    patched: `    push: (x) => (xs.push(x), x),
    first() {
      let first = xs[index]
      for (let at = index + 1; at < xs.length; at++) if (xs[at].id < first.id) first = xs[at]
      return this.remove(first)
    },
`,
  },
  { found: 'return index === -1', patched: 'return at === -1' },
  { found: 'xs.splice(index, 1)', patched: 'xs.splice(at, 1)' },
  {
    found: '      } else {\n',
    patched: '      } else if (index === 64) {\n        xs = xs.slice(index)\n        index = 0\n      } else {\n',
  },
]

const PATCHES: ReadonlyMap<string, readonly Patch[]> = new Map([
  ['connection', CONNECTION],
  ['index', INDEX],
  ['query', QUERY],
  ['queue', QUEUE],
])

const DRIVER_FILE = /[\\/]postgres[\\/]src[\\/]([a-z]+)\.js$/

/** The number of files that have patches. */
export const PATCHED_FILES = PATCHES.size

/**
 * The text of a file of the driver with all its patches; undefined for any other file. Throws when a patched place is not
 * found, so that someone reviews a new version first.
 */
export function patchedText(file: string, read: () => string): string | undefined {
  const patches = PATCHES.get(DRIVER_FILE.exec(file)?.[1] ?? '')
  return patches?.reduce((now, fault) => {
    if (now.split(fault.found).length !== 2)
      throw new Error('The database driver has changed. Check whether it still needs platform/driver-patches.ts.')
    return now.replace(fault.found, () => fault.patched)
  }, read())
}
