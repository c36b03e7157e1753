/** Requests that two parsers can read in two ways, for the bare server and for one behind a proxy. */

/** A request to the endpoint; its path is known only once the world runs. */
const PATH = '/{path}'

export const aRequest = (version: string, headers: readonly string[], body: string): string =>
  `POST ${PATH} HTTP/${version}\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n${body}`

export const toEndpoint = (text: string, path: string): string => text.replaceAll(PATH, path)

/**
 * The request that a smuggler hides behind the first one: if it is answered, the two ends disagree on where the first
 * one ended.
 */
export const HIDDEN = aRequest('1.1', ['Host: a', 'Content-Length: 10'], '{"hid":1}\n')

/** The requests that the server refuses. */
export const REFUSED: Readonly<Record<string, string>> = {
  'Content-Length and Transfer-Encoding together': aRequest(
    '1.1',
    ['Host: a', 'Content-Length: 5', 'Transfer-Encoding: chunked'],
    '0\r\n\r\n',
  ),
  'Transfer-Encoding and Content-Length together': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked', 'Content-Length: 5'],
    '0\r\n\r\n',
  ),
  'a Transfer-Encoding that is almost chunked': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: xchunked'],
    '0\r\n\r\n',
  ),
  'a Transfer-Encoding that does not end in chunked': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked, identity'],
    '0\r\n\r\n',
  ),
  'a Transfer-Encoding under chunked': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: gzip, chunked'],
    '2\r\n{}\r\n0\r\n\r\n',
  ),
  'Transfer-Encoding identity': aRequest('1.1', ['Host: a', 'Transfer-Encoding: identity', 'Content-Length: 2'], '{}'),
  'two Transfer-Encodings': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    '2\r\n{}\r\n0\r\n\r\n',
  ),
  'chunked with a vertical tab': aRequest('1.1', ['Host: a', 'Transfer-Encoding: \x0bchunked'], '0\r\n\r\n'),
  'Transfer-Encoding in HTTP/1.0': aRequest('1.0', ['Host: a', 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
  'Transfer-Encoding in HTTP/1.0 kept alive': aRequest(
    '1.0',
    ['Host: a', 'Connection: keep-alive', 'Transfer-Encoding: chunked'],
    '2\r\n{}\r\n0\r\n\r\n',
  ),
  'two Content-Lengths that differ': aRequest('1.1', ['Host: a', 'Content-Length: 1', 'Content-Length: 2'], '{}'),
  'two Content-Lengths that agree': aRequest('1.1', ['Host: a', 'Content-Length: 2', 'Content-Length: 2'], '{}'),
  'a list as Content-Length': aRequest('1.1', ['Host: a', 'Content-Length: 2, 2'], '{}'),
  'a sign in Content-Length': aRequest('1.1', ['Host: a', 'Content-Length: +2'], '{}'),
  'a hexadecimal Content-Length': aRequest('1.1', ['Host: a', 'Content-Length: 0x2'], '{}'),
  'a negative Content-Length': aRequest('1.1', ['Host: a', 'Content-Length: -1'], '{}'),
  'a Content-Length beyond 64 bits': aRequest('1.1', ['Host: a', 'Content-Length: 18446744073709551618'], '{}'),
  'a space before the colon': aRequest('1.1', ['Host: a', 'Content-Length : 2'], '{}'),
  'a folded header': aRequest('1.1', ['Host: a', 'X: 1', ' Transfer-Encoding: chunked', 'Content-Length: 2'], '{}'),
  'a bare line feed between headers': `POST ${PATH} HTTP/1.1\nHost: a\nContent-Length: 2\n\n{}`,
  'a bare carriage return in a header': aRequest(
    '1.1',
    ['Host: a', 'X: a\rTransfer-Encoding: chunked', 'Content-Length: 2'],
    '{}',
  ),
  'a NUL in a header': aRequest('1.1', ['Host: a', 'X: a\0b', 'Content-Length: 2'], '{}'),
  'a header name that is not a token': aRequest('1.1', ['Host: a', 'X(y): 1', 'Content-Length: 2'], '{}'),
  'no Host': aRequest('1.1', ['Content-Length: 2'], '{}'),
  'two Hosts': aRequest('1.1', ['Host: a', 'Host: b', 'Content-Length: 2'], '{}'),
  'two Hosts, one in other case': aRequest('1.1', ['Host: a', 'hOsT: a', 'Content-Length: 2'], '{}'),
  'an invalid Host': aRequest('1.1', ['Host: a b/c@d', 'Content-Length: 2'], '{}'),
  'a chunk size that ends in a bare line feed': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked'],
    '2\n{}\r\n0\r\n\r\n',
  ),
  'a chunk extension that ends in a bare line feed': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked'],
    '2;x\n{}\r\n0\r\n\r\n',
  ),
  'a chunk longer than it says': aRequest('1.1', ['Host: a', 'Transfer-Encoding: chunked'], '2\r\n{}XX\r\n0\r\n\r\n'),
  'a chunk size beyond 64 bits': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked'],
    'FFFFFFFFFFFFFFFFF\r\n{}\r\n',
  ),
  'a chunk size with a sign': aRequest('1.1', ['Host: a', 'Transfer-Encoding: chunked'], '+2\r\n{}\r\n0\r\n\r\n'),
  'a Content-Length among the trailers': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked'],
    '2\r\n{}\r\n0\r\nContent-Length: 50\r\n\r\n',
  ),
  'an authority as the target': `POST evil:80 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`,
  'HTTP/0.9': 'GET /healthz\r\n\r\n',
  'a version that does not exist': aRequest('1.2', ['Host: a', 'Content-Length: 2'], '{}'),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'non-ASCII letters in the path': `POST ${PATH}\xff HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`,
  'an unknown method': `BREW ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`,
}

/** The requests that can be read in only one way. */
export const TAKEN: Readonly<Record<string, string>> = {
  'HTTP/1.0 without a Host': `POST ${PATH} HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}`,
  'the absolute form of a target is this server': `POST http://elsewhere${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`,
  'chunks with extensions': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked'],
    '1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n',
  ),
  'chunked in mixed case': aRequest('1.1', ['Host: a', 'Transfer-Encoding: CHUNKED'], '2\r\n{}\r\n0\r\n\r\n'),
  'trailers that say nothing of the length': aRequest(
    '1.1',
    ['Host: a', 'Transfer-Encoding: chunked'],
    '2\r\n{}\r\n0\r\nX: y\r\n\r\n',
  ),
  'an expectation of 100': aRequest('1.1', ['Host: a', 'Expect: 100-continue', 'Content-Length: 2'], '{}'),
  'another expectation': aRequest('1.1', ['Host: a', 'Expect: wonders', 'Content-Length: 2'], '{}'),
  'hop-by-hop names of needed headers': aRequest(
    '1.1',
    ['Host: a', 'Connection: Content-Length, Host', 'Content-Length: 2'],
    '{}',
  ),
  'a query behind the endpoint': `POST ${PATH}?a=b/c HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`,
}
