import { Agent, request as requestHttp } from 'node:http'
import { Agent as AgentTls, request as requestHttps } from 'node:https'
import { proxyName, type EnvironmentProxy } from '@postroad/contract/environment-proxy'
import type { RecordFrame } from '@postroad/contract'
import { headersToSend, queryToSend, withQuery } from '@postroad/contract/sent-again'

export type Outgoing = {
  /** Empty: the request had none. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The answer of the receiver, with the start of its body. */
export type Answer = {
  readonly status: number
  readonly ms: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Stop = { readonly signal?: AbortSignal | undefined }

/** A request without an answer. `sent`: the receiver may have read the request. */
export type NoAnswer = { readonly sent: boolean; readonly error: string; readonly ms: number }

const ANSWER_CHARS_MAX = 65_536

/** The program that `listen` forwards to. */
export type Target = {
  readonly url: URL
  /** Accepts every certificate of the target. */
  readonly skipsTlsVerification: boolean
  readonly proxy: EnvironmentProxy | undefined
}

/** Each request has its own connection, so that none is lost in a connection that the receiver has just closed. */
function agentFor({ url, skipsTlsVerification, proxy }: Target): Agent | AgentTls {
  const options = {
    keepAlive: false,
    ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy.url.href, HTTPS_PROXY: proxy.url.href } }),
  }
  return url.protocol === 'https:'
    ? new AgentTls({ ...options, rejectUnauthorized: !skipsTlsVerification })
    : new Agent(options)
}

/** The request as it was received: every header but those of the connection, the query string, both without masked values, and the body byte for byte. */
export function outgoingOf({ submission_id, request }: RecordFrame): Outgoing {
  const base64 = request?.body_base64 ?? null
  return {
    // A server of an older version sends none.
    query: queryToSend(request?.query ?? null),
    headers: { ...headersToSend(request?.headers ?? {}), 'postroad-submission-id': submission_id ?? '' },
    body: base64 === null ? Buffer.from(request?.body ?? '') : Buffer.from(base64, 'base64'),
  }
}

/** Sends a request and waits for its answer without a limit, because a debugger can stop a receiver. */
export function forward(target: Target, { query, headers, body, signal }: Outgoing & Stop): Promise<Answer | NoAnswer> {
  const began = performance.now()
  const took = (): number => Math.round(performance.now() - began)
  return new Promise((resolve) => {
    const { url, proxy } = target
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    let reached = false
    const fail = (error: Error & { code?: string }): void => {
      const through = proxy === undefined ? '' : ` (through the proxy ${proxyName(proxy)})`
      resolve({ sent: reached, error: wordsOf(error) + through, ms: took() })
    }
    const sent = request(url, {
      method: 'POST',
      path: withQuery(url.pathname + url.search, query),
      agent: agentFor(target),
      signal,
      headers: { ...headers, 'content-length': body.length },
    })
    // A proxy accepts the connection before the receiver does.
    if (proxy !== undefined) sent.on('finish', () => (reached = true))
    else {
      const ready = url.protocol === 'https:' ? 'secureConnect' : 'connect'
      sent.on('socket', (socket) => socket.once(ready, () => (reached = true)))
    }
    sent.on('error', fail)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        if (text.length < ANSWER_CHARS_MAX) text += chunk.slice(0, ANSWER_CHARS_MAX - text.length)
      })
      response.on('error', fail)
      response.on('end', () => {
        const answered = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
        resolve({ status: response.statusCode ?? 0, ms: took(), headers: Object.fromEntries(answered), body: text })
      })
    })
    sent.end(body)
  })
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is not known',
  ECONNRESET: 'the connection was closed without a response',
  EPIPE: 'the connection was closed without a response',
}

const UNTRUSTED = /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER))/

function wordsOf(error: Error & { code?: string }): string {
  // A host name with two addresses fails with one error for each.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined
  const code = error.code ?? (first instanceof Error && 'code' in first ? String(first.code) : '')
  if (UNTRUSTED.test(code))
    return `its certificate is not trusted (${error.message}). Add --skip-tls-verify for a certificate of your own machine`
  return WORDS[code] ?? (error.message === '' ? code : error.message)
}

export const isAnswer = (result: Answer | NoAnswer): result is Answer => 'status' in result
