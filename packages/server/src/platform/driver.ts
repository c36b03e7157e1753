import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/**
 * The one file that knows the database driver, and mends it. When PostgreSQL closes connections under load, version 3.4.9
 * ends the process or leaves statements without an answer for ever (porsager/postgres #1154, #1168, #1208). It also
 * teaches it to say for which workspace a statement is run, in the statement's own message (docs/adr/0026).
 */
type Mend = { readonly found: string; readonly mended: string }

/** Sets it until the end of the transaction; gives no row, which the driver would take for one of the statement's own. */
export const SAY_WORKSPACE = `select 1 where set_config('postroad.workspace', $1, true) is null`

const MENDS: readonly Mend[] = [
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
    mended: '    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = errorResponse = null\n    socket.removeListener',
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

const MENDED_FILE = /\/postgres\/src\/connection\.js$/
let isMended = false

/** The driver's text with every fault mended; throws when one is not found, so that a new version is looked at first. */
function mend(text: string): string {
  isMended = true
  return MENDS.reduce((mended, fault) => {
    if (mended.split(fault.found).length !== 2) throw new Error('The database driver has changed: see whether it still needs platform/driver.ts.')
    return mended.replace(fault.found, () => fault.mended)
  }, text)
}

const hooks = registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    if (!MENDED_FILE.test(url)) return loaded
    return { ...loaded, source: mend(readFileSync(new URL(url), 'utf8')) }
  },
})

export const { default: postgres } = await import('postgres')

hooks.deregister()
if (!isMended) throw new Error('The database driver was loaded before platform/driver.ts could mend it.')
