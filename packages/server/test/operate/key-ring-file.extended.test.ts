import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rotateKey } from '../../src/commands/rotate-key.ts'
import { secretPlace } from '../../src/resources/secret-place.ts'
import { createCipher } from '../../src/platform/cipher.ts'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { openKeyFile } from '../../src/platform/key-file.ts'
import { countSealed } from '../../src/resources/operate/key-ring/index.ts'
import { aWebhook, behind, post } from '../stage/fixtures.ts'
import {
  databases,
  aHouse,
  aKeyFolder,
  fileIn,
  signed,
  aFullHouse,
  onlyProject,
  unreadable,
  onKeyRings,
} from '../stage/key-rings.ts'

/** An operator replaces the sealing key in a file while servers run. A crash at any step loses no value. */
onKeyRings()

describe('rotate-key with a key file', () => {
  test('the command creates a key, moves every value to it beside a running server, and removes the previous key', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const house = await aFullHouse(world)
    const previous = fileIn(keyFolder)
    const outcome = await rotateKey(database, world.storage)
    assert.deepEqual([outcome.ok, outcome.former_key_removed, outcome.resealed], [true, true, outcome.total])
    assert.match(fileIn(keyFolder), /^[A-Za-z0-9+/]{43}=\n$/)
    assert.notEqual(fileIn(keyFolder), previous)
    assert.deepEqual(await unreadable(database, createCipher(openKeyFile(keyFolder).keys())), [])
    await house.works()
    const { id } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'after' } })
    assert.equal((await world.admin('GET', `webhooks/${id}`)).status, 200)
    assert.equal(
      (await countSealed(database, world.storage.cipher)).waiting,
      0,
      'the server seals by the new key without a restart',
    )
  })

  test('after the command dies at any statement, every value opens with a key of the file, and the next run completes the work', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const house = await aFullHouse(world)
    let deaths = 0
    for (let step = 1; ; step += 1) {
      const died = await rotateKey(dyingAt(database, step), {
        keyFile: openKeyFile(keyFolder),
        cipher: createCipher(openKeyFile(keyFolder).keys),
      }).then(
        () => false,
        () => true,
      )
      assert.deepEqual(
        await unreadable(database, createCipher(openKeyFile(keyFolder).keys())),
        [],
        `at statement ${step}`,
      )
      assert.ok(fileIn(keyFolder).trim().split('\n').length <= 2, 'no third key is made')
      if (!died) break
      deaths += 1
    }
    assert.ok(deaths > 30, `there were ${deaths} steps`)
    assert.equal(fileIn(keyFolder).trim().split('\n').length, 1)
    await house.works()
  })

  test('two simultaneous commands, with changes meanwhile, leave one key, and it opens every value', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const house = await aFullHouse(world)
    const second = behind(world)
    databases.push(second)
    const changes = async (): Promise<void> => {
      for (let count = 0; count < 20; count += 1)
        await aWebhook(world, { verification: { scheme: 'hmac', secret: `s${count}` } })
    }
    const own = () => ({ keyFile: openKeyFile(keyFolder), cipher: createCipher(openKeyFile(keyFolder).keys) })
    const [one, other] = await Promise.all([rotateKey(database, own()), rotateKey(second, own()), changes()])
    assert.deepEqual([one.ok, other.ok], [true, true])
    assert.equal(fileIn(keyFolder).trim().split('\n').length, 1)
    assert.deepEqual(await unreadable(database, createCipher(openKeyFile(keyFolder).keys())), [])
    await house.works()
  })

  test('the command does not overwrite a value that changed after the command read it', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const { id, public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'read' } })
    const change = async (): Promise<void> =>
      void (await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'hmac', secret: 'set' } }))
    assert.equal((await rotateKey(watchFor(database, /^\s*update /, change), world.storage)).ok, true)
    world.app.deps.configChanged((await onlyProject(world)).id)
    assert.equal((await post(public_url, '{}', { headers: signed('set') })).status, 201)
  })

  test('the previous key stays until all transactions that could have sealed with it have ended', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    await aFullHouse(world)
    const straggler = behind(world)
    databases.push(straggler)
    const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sealed = world.storage.cipher
    const slow = straggler.transaction(async (tx) => {
      const row = await tx.one<{ id: string }>(sql`select id from webhooks where secret is not null limit 1`)
      const value = sealed.seal('late', secretPlace('webhooks.secret', row.id))
      asked.resolve()
      await go.promise
      await tx.run(sql`update webhooks set secret = ${value} where id = ${row.id}`)
    })
    await asked.promise
    const watched = watchFor(database, /pg_stat_activity/, () => go.resolve())
    const outcome = await rotateKey(watched, world.storage)
    await slow
    assert.equal(outcome.ok, true)
    assert.deepEqual(await unreadable(database, createCipher(openKeyFile(keyFolder).keys())), [])
  })
})

/** The real database, which fails from statement number `last` on. */
function dyingAt(database: Database, last: number): Database {
  let count = 0
  const alive = (): void => {
    count += 1
    if (count >= last) throw new Error('died')
  }
  return wrapped(database, alive)
}

/** The real database; calls back before the first statement that matches. */
function watchFor(database: Database, what: RegExp, seen: () => void | Promise<void>): Database {
  let isFirst = true
  return wrapped(database, async (text) => {
    if (!isFirst || !what.test(text)) return
    isFirst = false
    await seen()
  })
}

function wrapped(database: Database, look: (text: string) => void | Promise<void>): Database {
  const around = (db: Db): Db => ({
    many: async (query) => (await look(query.strings.join('')), db.many(query)),
    maybe: async (query) => (await look(query.strings.join('')), db.maybe(query)),
    one: async (query) => (await look(query.strings.join('')), db.one(query)),
    run: async (query) => (await look(query.strings.join('')), db.run(query)),
  })
  return {
    ...around(database),
    transaction: (work) =>
      database.transaction(async (tx) => {
        const result = await work(around(tx))
        await look('commit')
        return result
      }),
    forWorkspace: (workspaceId) => wrapped(database.forWorkspace(workspaceId), look),
    get forSystem() {
      return wrapped(database.forSystem, look)
    },
    get patient() {
      return wrapped(database.patient, look)
    },
    listen: (...listening) => database.listen(...listening),
    underWay: () => database.underWay(),
    close: () => database.close(),
  }
}
