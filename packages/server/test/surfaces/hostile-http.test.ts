import assert from 'node:assert/strict'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createListener } from '../../src/surfaces/listener.ts'
import { filedText, post, submissionOf, Wire, type RawAnswer } from '../stage/fixtures.ts'
import { eventually, type World } from '../stage/harness.ts'
import { aRequest, HIDDEN, REFUSED, TAKEN, toEndpoint } from '../stage/smuggling-cases.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Requests that no ordinary client sends: the server refuses or normalizes them, and never gets out of step with a
 * proxy in front of it.
 */
let world: World
let path: string

onWorldStage(
  (made) => {
    ;({ world } = made)
    path = new URL(world.endpoint).pathname
  },
  { loops: [] },
)

async function onWire<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
  const wire = new Wire(world.baseUrl)
  try {
    return await work(wire)
  } finally {
    wire.destroy()
  }
}

function reasonOf(answer: RawAnswer | undefined): unknown {
  return answer === undefined ? undefined : JSON.parse(answer.body).reason
}

async function countOfSubmissions(): Promise<number> {
  const { body } = await world.admin('GET', 'submissions?limit=200')
  return body.submissions.length
}

const PROBE = 'GET /healthz HTTP/1.1\r\nHost: probe\r\n\r\n'

const toPath = (text: string): string => toEndpoint(text, path)
const aPost = (body: string): string => toPath(aRequest('1.1', ['Host: a', `Content-Length: ${body.length}`], body))
const begin = (length: number): string => toPath(aRequest('1.1', ['Host: a', `Content-Length: ${length}`], ''))

describe('request smuggling', () => {
  for (const [name, text] of Object.entries(REFUSED)) {
    test(`${name}: 400 with a reason, the connection ends, and no later request on it is answered`, async () => {
      const stored = await countOfSubmissions()
      await onWire(async (wire) => {
        wire.send(toPath(text + HIDDEN + PROBE))
        const answer = await wire.answer()
        assert.deepEqual([answer?.status, reasonOf(answer)], [400, 'malformed_request'])
        assert.match(answer?.head ?? '', /^request-id: req_/im)
        assert.match(answer?.head ?? '', /^connection: close$/im)
        await wire.closed
        assert.equal(wire.rest, '')
      })
      assert.equal(await countOfSubmissions(), stored)
    })
  }

  for (const [name, text] of Object.entries(TAKEN)) {
    test(`${name}: 201, and the next request on the connection is in step`, () =>
      onWire(async (wire) => {
        wire.send(toPath(text + PROBE))
        assert.equal((await wire.answer())?.status, 201)
        const next = await wire.answer()
        assert.deepEqual([next?.status, next?.body], [200, '{"status":"ok"}'])
        assert.equal(wire.rest, '')
      }))
  }

  test('an upgrade that the server does not offer is ignored: 201, and the connection ends', () =>
    onWire(async (wire) => {
      const headers = [
        'Host: a',
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABk',
        'Content-Length: 2',
      ]
      const answer = await wire.send(toPath(aRequest('1.1', headers, '{}'))).answer()
      assert.equal(answer?.status, 201)
      assert.match(answer?.head ?? '', /^connection: close$/im)
      await wire.closed
    }))

  test('a request inside a body is part of the body', () =>
    onWire(async (wire) => {
      const inner = JSON.stringify(toPath(`${HIDDEN}0\r\n\r\n${HIDDEN}`))
      wire.send(aPost(inner) + PROBE)
      const answer = await wire.answer()
      assert.equal(answer?.status, 201)
      assert.equal((await wire.answer())?.status, 200)
      assert.equal((await submissionOf(world, JSON.parse(answer?.body ?? '{}').id)).body, inner)
    }))

  test('after a rejected request the connection is in step although its body was never read', () =>
    onWire(async (wire) => {
      wire.send(`POST ${path}x HTTP/1.1\r\nHost: a\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}${PROBE}`)
      assert.deepEqual(reasonOf(await wire.answer()), 'endpoint_not_found')
      assert.equal((await wire.answer())?.body, '{"status":"ok"}')
    }))
})

describe('pipelining', () => {
  test('pipelined requests are answered in their order, ingest requests and others', () =>
    onWire(async (wire) => {
      wire.send(
        [
          aPost('{"n":1}'),
          PROBE,
          aPost('{'),
          aPost('{"n":2}'),
          'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n',
          aPost('{"n":3}'),
        ].join(''),
      )
      const statuses = []
      for (let count = 0; count < 6; count += 1) statuses.push((await wire.answer())?.status)
      assert.deepEqual(statuses, [201, 200, 400, 201, 404, 201])
    }))

  test('garbage after a request does not suppress its answer: a stored event gets 201', () =>
    onWire(async (wire) => {
      wire.send(`${aPost('{}')}RUBBISH\r\n\r\n`)
      assert.equal((await wire.answer())?.status, 201)
      await wire.closed
      assert.equal(wire.rest, '')
    }))
})

describe('targets', () => {
  const TARGETS: readonly (readonly [string, number])[] = [
    ['/%', 400],
    ['/%zz/%c0%80', 400],
    ['/main/default/%zz', 400],
    ['//', 405],
    ['//main/default/x', 404],
    ['/main//x', 404],
    ['/../../etc/passwd', 404],
    ['/main/default/..', 404],
    ['/main/default/%2e%2e%2f', 404],
    ['/main/default/%00', 404],
    ['/main/default/a/b/c/d', 404],
    ['/v1/ingest', 404],
    ['/v1/ingest/', 404],
    ['/v1/webhooks/x', 404],
    ['/v1/webhooks/x/y/z', 404],
    ['/__proto__/constructor/prototype', 404],
    [`/v1/ingest/${'k'.repeat(60_000)}`, 404],
    [`/main/default/${'%41'.repeat(20_000)}`, 404],
    ['*', 405],
  ]
  for (const [target, status] of TARGETS) {
    test(`POST ${target.slice(0, 40)} is ${status}, and the connection continues`, () =>
      onWire(async (wire) => {
        wire.send(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}${PROBE}`)
        const answer = await wire.answer()
        assert.equal(answer?.status, status, answer?.body)
        assert.match(answer?.head ?? '', /^request-id: req_/im)
        assert.equal(typeof reasonOf(answer), 'string')
        assert.equal((await wire.answer())?.body, '{"status":"ok"}')
      }))
  }

  test('other methods on an endpoint never reach ingest and cause no 5xx', async () => {
    const stored = await countOfSubmissions()
    for (const method of ['PUT', 'PATCH', 'DELETE', 'GET', 'TRACE', 'PROPFIND', 'QUERY']) {
      await onWire(async (wire) => {
        wire.send(`${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
        const status = (await wire.answer())?.status
        assert.ok(status !== undefined && status >= 400 && status < 500, `${method} ${status}`)
      })
    }
    // HEAD asks whether the endpoint is enabled.
    await onWire(async (wire) => {
      wire.send(`HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      assert.match(await wire.head(), /^HTTP\/1.1 200 /)
    })
    assert.equal(await countOfSubmissions(), stored)
  })
})

/** The answer to a request with these headers. */
async function statusAfter(hops: string): Promise<number | undefined> {
  const request = Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nService-Hops: ${hops}\r\nContent-Length: 2\r\n\r\n{}`,
  )
  return (await onWire((wire) => wire.send(request).answer()))?.status
}

describe('headers', () => {
  test('hundreds of headers are stored; a thousand, or more than 64 KiB of them, get 431', async () => {
    await onWire(async (wire) => {
      const many = Array.from({ length: 900 }, (_, at) => `h${at}: v\r\n`).join('')
      wire.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n${many}Content-Length: 2\r\n\r\n{}`)
      const answer = await wire.answer()
      assert.equal(answer?.status, 201)
      const { headers } = await submissionOf(world, JSON.parse(answer?.body ?? '{}').id)
      assert.equal(Object.keys(headers).filter((name) => /^h\d+$/.test(name)).length, 900)
    })
    for (const flood of [
      `x: ${'a'.repeat(70_000)}\r\n`,
      'a:b\r\n'.repeat(1_000),
      'a:b\r\n'.repeat(100_000),
      `${'n'.repeat(70_000)}: 1\r\n`,
    ]) {
      await onWire(async (wire) => {
        const answer = await wire
          .send(`POST ${path} HTTP/1.1\r\nHost: a\r\n${flood}Content-Length: 2\r\n\r\n{}`)
          .answer()
        assert.deepEqual([answer?.status, reasonOf(answer)], [431, 'headers_too_large'])
        await wire.closed
      })
    }
    const long = await onWire((wire) =>
      wire.send(`POST ${path}?${'a'.repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`).answer(),
    )
    assert.equal(long?.status, 431)
  })

  test('a head of 64 KiB is accepted; a target, names and values of one byte more get 431', async () => {
    const start = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX: `
    const whole = await onWire((wire) =>
      wire.send(`${start}${'a'.repeat(65_536 - start.length - 4)}\r\n\r\n{}`).answer(),
    )
    assert.equal(whole?.status, 201)
    const named = `${path}HostaContent-Length2X`
    const beyond = await onWire((wire) => wire.send(`${start}${'a'.repeat(65_537 - named.length)}\r\n\r\n{}`).answer())
    assert.deepEqual([beyond?.status, reasonOf(beyond)], [431, 'headers_too_large'])
  })

  test('repeated headers, prototypes as names and Latin-1 values are stored as data', () =>
    onWire(async (wire) => {
      wire.send(
        `POST ${path} HTTP/1.1\r\nHost: a\r\n__proto__: x\r\nconstructor: y\r\nX-A: 1\r\nx-a: 2\r\nX-L: \xe9\xff\r\nX-Empty:\r\nContent-Length: 2\r\n\r\n{}`,
      )
      const answer = await wire.answer()
      assert.equal(answer?.status, 201)
      const { headers } = await submissionOf(world, JSON.parse(answer?.body ?? '{}').id)
      assert.deepEqual(
        [headers['constructor'], headers['x-a'], headers['x-l'], headers['x-empty']],
        ['y', '1, 2', 'éÿ', ''],
      )
    }))

  test('a header that counts the hops of an event can have any value, and five hops or more get 409', async () => {
    for (const hops of ['4', '4, 4', '', '-1', 'x', '1, 2', '1e9', '٣'])
      assert.equal(await statusAfter(hops), 201, hops)
    for (const hops of ['5', '10000', '9'.repeat(400), '5, 5', '0,7', '1\r\nService-Hops: 6'])
      assert.equal(await statusAfter(hops), 409, hops)
  })

  test('without TRUST_PROXY the server ignores X-Forwarded-For', async () => {
    const answer = await post(world.endpoint, '{}', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    assert.equal((await submissionOf(world, answer.body.id)).source_ip, '127.0.0.1')
  })
})

describe('bodies that do not arrive', () => {
  test('aborted bodies store nothing and leave the server healthy', async () => {
    const stored = await countOfSubmissions()
    await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const wire = new Wire(world.baseUrl)
        await wire.sent(begin(100) + '{'.repeat(at))
        wire.destroy()
        await wire.closed
      }),
    )
    const chunked = new Wire(world.baseUrl)
    await chunked.sent(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`)
    chunked.destroy()
    await chunked.closed
    assert.equal((await post(world.endpoint, '{}')).status, 201)
    assert.equal(await countOfSubmissions(), stored + 1)
  })

  test('a client that disconnects once its body is complete changes nothing: the event is stored', async () => {
    const stored = await countOfSubmissions()
    const wire = new Wire(world.baseUrl)
    await wire.sent(`${begin(13)}{"left":true}`)
    wire.destroy()
    await eventually('the event is stored', async () =>
      (await countOfSubmissions()) === stored + 1 ? true : undefined,
    )
    assert.equal((await post(world.endpoint, '{}')).status, 201)
  })

  test('a body whose announced length is too large gets 413 before it is sent; a body without a length gets it once it is too large', async () => {
    const declared = await onWire((wire) => wire.send(begin(5_000_000_000)).answer())
    assert.deepEqual([declared?.status, reasonOf(declared)], [413, 'payload_too_large'])
    await onWire(async (wire) => {
      wire.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
      const chunk = Buffer.alloc(65_536, 0x20)
      for (let count = 0; count < 17; count += 1) wire.send('10000\r\n').send(chunk).send('\r\n')
      const answer = await wire.answer()
      assert.deepEqual([answer?.status, reasonOf(answer)], [413, 'payload_too_large'])
      wire.send(`0\r\n\r\n${PROBE}`)
      assert.equal((await wire.answer())?.body, '{"status":"ok"}')
    })
  })

  test('a body in a thousand pieces is one body', () =>
    onWire(async (wire) => {
      const text = JSON.stringify(Array.from({ length: 500 }, (_, at) => at))
      wire.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
      for (const letter of text) wire.send(`1\r\n${letter}\r\n`)
      const answer = await wire.send('0\r\n\r\n').answer()
      assert.equal(answer?.status, 201)
      assert.equal(
        await filedText(world, { status: 201, headers: new Headers(), body: JSON.parse(answer?.body ?? '{}') }),
        text,
      )
    }))
})

describe('slow senders', () => {
  let server: Server
  let baseUrl: string

  before(async () => {
    server = createListener((request, response) => {
      request.resume()
      request.on('end', () => response.end('whole'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  test('the headers have 10 seconds and the whole request has 30; Node alone would allow six and ten times as much', () => {
    assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 30_000])
    const plain = createServer()
    assert.deepEqual([plain.headersTimeout, plain.requestTimeout], [60_000, 300_000])
  })

  test('a request that does not arrive in time gets 408 with a reason, and its connection ends', async (t) => {
    t.after(() => {
      server.headersTimeout = 10_000
      server.requestTimeout = 30_000
    })
    server.headersTimeout = 50
    server.requestTimeout = 100
    for (const text of [
      'POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{',
    ]) {
      const wire = new Wire(baseUrl).send(text)
      const answer = await wire.answer()
      assert.deepEqual([answer?.status, reasonOf(answer)], [408, 'request_timeout'])
      await wire.closed
      assert.equal(wire.rest, '')
    }
  })

  test('a good request on the same listener is served', async () => {
    const status = await new Promise((resolve) => {
      httpRequest(baseUrl, { method: 'POST' }, (response) => resolve(response.statusCode)).end('{}')
    })
    assert.equal(status, 200)
  })
})
