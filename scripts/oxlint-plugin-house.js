/** Three house rules that no shared linter can know. They match names, not call graphs: a guard, not a proof. */

const fileOf = (context) => (context.filename ?? context.getFilename()).replaceAll('\\', '/')
const nameOf = (callee) => (callee.type === 'Identifier' ? callee.name : callee.property?.name)

/** The sql tag may be used in a room's queries.ts, in platform/ and in tests. */
const sqlInQueries = {
  create(context) {
    const allowed = /\/queries\.ts$|\/platform\/|\/test\/|\.test\.ts$/.test(fileOf(context))
    return {
      TaggedTemplateExpression(node) {
        if (!allowed && node.tag.name === 'sql') {
          context.report({ node, message: 'SQL lives in queries.ts of the room that owns the table.' })
        }
      },
    }
  },
}

function* walk(node) {
  if (typeof node !== 'object' || node === null) return
  if (typeof node.type === 'string') yield node
  for (const [key, value] of Object.entries(node)) if (key !== 'parent') yield* walk(value)
}

const isFunction = (node) => node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression' || node?.type === 'FunctionDeclaration'
const callsIn = (node) => [...walk(node)].filter(({ type }) => type === 'CallExpression')

/** The functions of a file by name: declared, assigned, or a member of an object. */
function functionsOf(program) {
  const found = new Map()
  for (const node of walk(program)) {
    if (node.type === 'FunctionDeclaration') found.set(node.id?.name, node)
    if (node.type === 'VariableDeclarator' && isFunction(node.init)) found.set(node.id.name, node.init)
    if (node.type === 'Property' && isFunction(node.value)) found.set(node.key.name, node.value)
  }
  return found
}

/**
 * Each transaction of a room leaves an audit row: what it runs calls `audit`, or what is named so (`auditOwn`), itself or
 * through a function of its file. A function that opens one for work it is handed is an opener like `inTransaction`, and each
 * of its calls is looked at.
 */
const verbGuards = {
  create(context) {
    if (!/\/resources\/[^/]+\/(?!queries)[^/]+\.ts$/.test(fileOf(context)) || fileOf(context).endsWith('.test.ts')) return {}
    return {
      'Program:exit'(program) {
        const functions = functionsOf(program)
        const openers = new Set(['inTransaction'])
        const workOf = (call) => call.arguments.map((argument) => (argument.type === 'Identifier' ? functions.get(argument.name) : argument)).filter(isFunction)
        const audits = (node, seen = new Set()) =>
          callsIn(node).some(({ callee }) => {
            const name = nameOf(callee)
            if (/^audit(?:[A-Z]|$)/.test(name)) return true
            if (callee.type !== 'Identifier' || seen.has(name) || !functions.has(name)) return false
            return audits(functions.get(name), seen.add(name))
          })
        const handsOn = (call) => {
          for (const [name, held] of functions) {
            const handed = new Set(held.params.flatMap((param) => [...walk(param)]).filter(({ type }) => type === 'Identifier').map((id) => id.name))
            const inside = callsIn(held).includes(call)
            if (inside && workOf(call).some((work) => callsIn(work).some(({ callee }) => callee.type === 'Identifier' && handed.has(callee.name)))) return name
          }
          return undefined
        }
        const calls = callsIn(program)
        const opening = calls.filter(({ callee }) => nameOf(callee) === 'inTransaction')
        const handing = new Map(opening.map((call) => [call, handsOn(call)]))
        for (const name of handing.values()) if (name !== undefined) openers.add(name)
        for (const call of calls) {
          if (call.callee.type === 'MemberExpression' && nameOf(call.callee) === 'transaction') {
            context.report({ node: call, message: 'A room opens its transactions with inTransaction. If nothing is changed here, say so and disable the rule here.' })
          }
          if (!openers.has(nameOf(call.callee)) || handing.get(call) !== undefined || workOf(call).some((work) => audits(work))) continue
          context.report({ node: call, message: 'This change writes no audit row. If that is right, say why and disable the rule here.' })
        }
      },
    }
  },
}

/** Time, chance and the network come from Deps, so that tests can hold them still. */
const noAmbient = {
  create(context) {
    if (/\/platform\/|\/test\/|\.test\.tsx?$|\/(console|cli|sdk|assets|sim|chaos|bench)\//.test(fileOf(context))) return {}
    const say = (node, what) => context.report({ node, message: `${what} is ambient; take it from deps.` })
    return {
      CallExpression(node) {
        const { callee } = node
        if (callee.type === 'Identifier' && callee.name === 'fetch') say(node, 'fetch')
        if (callee.type !== 'MemberExpression') return
        const path = `${callee.object.name}.${callee.property.name}`
        if (['Date.now', 'Math.random', 'crypto.randomUUID'].includes(path)) say(node, path)
      },
      NewExpression(node) {
        if (node.callee.name === 'Date' && node.arguments.length === 0) say(node, 'new Date()')
      },
    }
  },
}

export default {
  meta: { name: 'house' },
  rules: { 'sql-in-queries': sqlInQueries, 'verb-guards': verbGuards, 'no-ambient': noAmbient },
}
