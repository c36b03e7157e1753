import type { FastifyRequest } from 'fastify'

const COOKIES_MAX = 4

/** Every value that was sent under a name. A neighboring host can set a second cookie, but cannot remove this server's. */
export function cookiesNamed(request: Pick<FastifyRequest, 'headers'>, name: string): readonly string[] {
  return (request.headers.cookie ?? '')
    .split(/; */)
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, COOKIES_MAX)
    .map((pair) => pair.slice(name.length + 1))
}
