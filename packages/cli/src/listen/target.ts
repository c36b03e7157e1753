import { EXIT, Failure } from '../failure.ts'

/** The URL that `listen` forwards to: from a port, a host with a port, or a URL. */
export function targetOf(named: string, path: string | undefined): URL {
  const text = /^\d+$/.test(named)
    ? `http://localhost:${named}`
    : /^[a-z]+:\/\//i.test(named)
      ? named
      : `http://${named}`
  const port = /^\d+$/.test(named) ? Number(named) : 1
  const url = URL.canParse(text) && port >= 1 && port <= 65_535 ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '')
    throw new Failure(
      `"${named}" is not a port or a URL. Write it as 3000 or http://localhost:3000/webhooks.`,
      EXIT.usage,
    )
  if (path === undefined) return url
  if (!path.startsWith('/')) throw new Failure(`--path begins with a slash, such as /webhooks.`, EXIT.usage)
  if (url.pathname !== '/' || url.search !== '')
    throw new Failure('Name the path in the URL or with --path, not in both.', EXIT.usage)
  return new URL(path, url)
}
