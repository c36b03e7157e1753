import { splitPath } from '@postroad/verify/dot-path'

export { splitPath }

/** A path that begins with this names the request behind an event, and not its payload. */
export const REQUEST_ROOT = '$request'

/** The steps of a path into the request, such as `['headers', 'x-topic']`; undefined: the path is into the payload. */
export function requestSteps(path: string): readonly string[] | undefined {
  if (!path.startsWith(REQUEST_ROOT)) return undefined
  const [root, ...steps] = splitPath(path)
  return root === REQUEST_ROOT ? steps : undefined
}

/** `\$request` is a member of the payload that is really called `$request`. */
const ESCAPED_ROOT = /^\\(?=\$request(?:\.|$))/

/** The steps of a path into the payload. */
export const payloadSteps = (path: string): readonly string[] => splitPath(path.replace(ESCAPED_ROOT, ''))

/** A step of a target that is a list index: `0`, `1`, … An index that is too large for a list is refused on save. */
export const LIST_STEP = /^(?:0|[1-9]\d*)$/

export const PATH_PROBLEMS = {
  empty: 'A path may not be empty; write one such as "items.0.id".',
  emptyStep: 'A path may not have an empty step; write a literal dot as "\\.".',
  request:
    'A path into the request is $request.headers.<name>, $request.query.<name>, $request.method or $request.path. A member of the payload that is really called $request is written \\$request.',
  headerCase: 'The name of a header is in lower case in a path, such as $request.headers.x-github-event.',
} as const

/** The problem with a dot path, in a sentence; undefined: it is valid. The limit of its length is checked separately. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return PATH_PROBLEMS.empty
  return splitPath(path).includes('') ? PATH_PROBLEMS.emptyStep : requestProblem(requestSteps(path))
}

/** The same for the steps of a path into the request. */
export function requestProblem(steps: readonly string[] | undefined): string | undefined {
  if (steps === undefined) return undefined
  const [member, name, ...rest] = steps
  switch (member) {
    case 'method':
    case 'path':
      return name === undefined ? undefined : PATH_PROBLEMS.request
    case 'query':
      return name === undefined ? PATH_PROBLEMS.request : undefined
    case 'headers':
      if (name === undefined || rest.length > 0) return PATH_PROBLEMS.request
      return name === name.toLowerCase() ? undefined : PATH_PROBLEMS.headerCase
    case undefined:
    default:
      return PATH_PROBLEMS.request
  }
}

/** The members of a query string, as paths read them. A name that occurs several times has a list of values. */
export function queryMembers(query: string | null): Readonly<Record<string, string | readonly string[]>> {
  const members: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query ?? '')) {
    const before = members[name]
    members[name] = before === undefined ? value : [before, value].flat()
  }
  return members
}
