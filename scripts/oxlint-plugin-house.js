import { globSync, readFileSync } from 'node:fs'

/** House rules that no shared linter can know. They match names, not call graphs: a guard, not a proof. */

const fileOf = (context) => (context.filename ?? context.getFilename()).replaceAll('\\', '/')
const nameOf = (callee) => (callee.type === 'Identifier' ? callee.name : callee.property?.name)

const RUNS = new Set(['run', 'one', 'maybe', 'many'])
const DATABASES = new Set(['db', 'database', 'tx'])

/** SQL, and any call that runs a statement, may be used in a room's queries.ts, in platform/ and in tests. */
const sqlInQueries = {
  create(context) {
    const file = fileOf(context)
    if (/\/queries\.ts$|\/queries\/|\/platform\/|\/test\/|\.test\.ts$/.test(file)) return {}
    const isServer = /packages\/server\/src\//.test(file)
    return {
      TaggedTemplateExpression(node) {
        if (node.tag.name === 'sql') {
          context.report({ node, message: 'SQL lives in queries.ts of the room that owns the table.' })
        }
      },
      CallExpression(node) {
        const { callee } = node
        if (!isServer || callee.type !== 'MemberExpression' || !RUNS.has(callee.property.name)) return
        if (DATABASES.has(nameOf(callee.object))) {
          context.report({ node, message: 'A statement runs in queries.ts of the room that owns the table.' })
        }
      },
    }
  },
}

/** Tables that belong to a credential or a person, and are looked up by it. */
const NOT_OF_A_TENANT = new Set(['credentials', 'one_time_tokens', 'sessions', 'sign_in_links'])

/** Every table with a `workspace_id`, as the migrations create it. */
function tenantTables() {
  const migrations = globSync('packages/server/migrations/*.sql', { cwd: new URL('..', import.meta.url).pathname })
  const texts = migrations.map((file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
  const made = texts.flatMap((text) => [...text.matchAll(/create table (?:if not exists )?(\w+) \(([^]*?)\n\)/g)])
  return new Set(
    made
      .filter(([, , columns]) => /^\s*workspace_id /m.test(columns))
      .flatMap(([, name]) => (NOT_OF_A_TENANT.has(name) ? [] : [name])),
  )
}

/** A statement on a table of a tenant names the workspace, so that no statement reads across tenants by mistake. */
const tenantStatement = {
  create(context) {
    if (!/packages\/server\/src\/.*queries(\.ts$|\/)/.test(fileOf(context))) return {}
    const tables = tenantTables()
    const source = context.sourceCode ?? context.getSourceCode()
    let depth = 0
    return {
      TaggedTemplateExpression(node) {
        if (node.tag.name !== 'sql') return
        depth += 1
        if (depth > 1) return
        const text = source.getText(node)
        const used = [...text.matchAll(/\b(?:from|join|into|update|using)\s+(?:only\s+)?(\w+)/g)].map(
          ([, name]) => name,
        )
        const table = used.find((name) => tables.has(name))
        if (table === undefined || text.includes('workspace_id')) return
        context.report({
          node,
          message: `This statement on ${table} does not name workspace_id. If it is meant for every workspace, say why and disable the rule here.`,
        })
      },
      'TaggedTemplateExpression:exit'(node) {
        if (node.tag.name === 'sql') depth -= 1
      },
    }
  },
}

function* walk(node) {
  if (typeof node !== 'object' || node === null) return
  if (typeof node.type === 'string') yield node
  for (const [key, value] of Object.entries(node)) if (key !== 'parent') yield* walk(value)
}

const isFunction = (node) =>
  node?.type === 'ArrowFunctionExpression' ||
  node?.type === 'FunctionExpression' ||
  node?.type === 'FunctionDeclaration'
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
 * Each transaction of a room writes an audit row: the function that it runs calls `audit`, or a function with such a
 * name (`auditOwn`), directly or through a function of its file. A function that opens a transaction for work that it
 * is given is an opener like `inTransaction`, and each of its calls is examined.
 */
const verbGuards = {
  create(context) {
    if (
      !/\/resources\/[^/]+\/[^/]+\/(?!queries)[^/]+\.ts$/.test(fileOf(context)) ||
      fileOf(context).endsWith('.test.ts')
    )
      return {}
    return {
      'Program:exit'(program) {
        const functions = functionsOf(program)
        const openers = new Set(['inTransaction'])
        const workOf = (call) =>
          call.arguments
            .map((argument) => (argument.type === 'Identifier' ? functions.get(argument.name) : argument))
            .filter(isFunction)
        const audits = (node, seen = new Set()) =>
          callsIn(node).some(({ callee }) => {
            const name = nameOf(callee)
            if (/^audit(?:[A-Z]|$)/.test(name)) return true
            if (callee.type !== 'Identifier' || seen.has(name) || !functions.has(name)) return false
            return audits(functions.get(name), seen.add(name))
          })
        const handsOn = (call) => {
          for (const [name, held] of functions) {
            const handed = new Set(
              held.params
                .flatMap((param) => [...walk(param)])
                .filter(({ type }) => type === 'Identifier')
                .map((id) => id.name),
            )
            const inside = callsIn(held).includes(call)
            if (
              inside &&
              workOf(call).some((work) =>
                callsIn(work).some(({ callee }) => callee.type === 'Identifier' && handed.has(callee.name)),
              )
            )
              return name
          }
          return undefined
        }
        const calls = callsIn(program)
        const opening = calls.filter(({ callee }) => nameOf(callee) === 'inTransaction')
        const handing = new Map(opening.map((call) => [call, handsOn(call)]))
        for (const name of handing.values()) if (name !== undefined) openers.add(name)
        for (const call of calls) {
          if (call.callee.type === 'MemberExpression' && nameOf(call.callee) === 'transaction') {
            context.report({
              node: call,
              message:
                'A room opens its transactions with inTransaction. If nothing is changed here, say so and disable the rule here.',
            })
          }
          if (
            !openers.has(nameOf(call.callee)) ||
            handing.get(call) !== undefined ||
            workOf(call).some((work) => audits(work))
          )
            continue
          context.report({
            node: call,
            message: 'This change writes no audit row. If that is right, say why and disable the rule here.',
          })
        }
      },
    }
  },
}

const AMBIENT_FUNCTIONS = new Set(['fetch', 'setTimeout', 'setInterval'])
const AMBIENT_MEMBERS = new Set([
  'Date.now',
  'Math.random',
  'performance.now',
  'crypto.randomUUID',
  'crypto.getRandomValues',
])
const AMBIENT_IMPORTS = new Map([
  ['crypto', new Set(['randomUUID', 'randomBytes', 'randomInt', 'randomFillSync', 'randomFill', 'getRandomValues'])],
  ['timers', new Set(['setTimeout', 'setInterval'])],
  ['timers/promises', new Set(['setTimeout', 'setInterval', 'scheduler'])],
  ['perf_hooks', new Set(['performance'])],
])
/** The rule covers every spelling: `globalThis.setTimeout` is `setTimeout`. */
const bare = (text) => text.replace(/^(?:globalThis|global)\./, '')

/** Time, chance and the network come from Deps, so that tests can control them. */
const noAmbient = {
  create(context) {
    if (
      /\/platform\/|\/test\/|\.test\.tsx?$|\/(console|cli|sdk|assets|sim|chaos|bench|commands|scripts)\//.test(
        fileOf(context),
      )
    )
      return {}
    const source = context.sourceCode ?? context.getSourceCode()
    const report = (node, name) => context.report({ node, message: `${name} is ambient; take it from deps.` })
    return {
      ImportSpecifier(node) {
        const from = AMBIENT_IMPORTS.get(node.parent.source.value.replace(/^node:/, ''))
        if (node.parent.importKind !== 'type' && from?.has(node.imported.name)) report(node, node.imported.name)
      },
      CallExpression({ callee }) {
        const name = bare(source.getText(callee))
        if (AMBIENT_FUNCTIONS.has(name) || AMBIENT_MEMBERS.has(name)) report(callee, name)
      },
      NewExpression(node) {
        if (node.callee.name === 'Date' && node.arguments.length === 0) report(node, 'new Date()')
      },
    }
  },
}

export default {
  meta: { name: 'house' },
  rules: {
    'sql-in-queries': sqlInQueries,
    'tenant-statement': tenantStatement,
    'verb-guards': verbGuards,
    'no-ambient': noAmbient,
  },
}
