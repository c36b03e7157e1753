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

/** A verb that opens a transaction leaves an audit row inside it. */
const verbGuards = {
  create(context) {
    if (!/\/resources\/[^/]+\/(?!queries|index|present)[^/]+\.ts$/.test(fileOf(context))) return {}
    const called = new Set()
    let opened
    return {
      CallExpression(node) {
        const name = nameOf(node.callee)
        called.add(name)
        if (name === 'inTransaction') opened = node
      },
      'Program:exit'() {
        if (opened && !called.has('audit')) {
          context.report({ node: opened, message: 'This change writes no audit row. If that is right, say why and disable the rule here.' })
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
