import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { NODE_NEXT, ROOT, Stranger } from './stranger.ts'

const stranger = new Stranger()

before(() => stranger.install())
after(() => stranger.remove())

/** The package has narrower types for members that the contract reads from any value, such as a number in a query. */
test('every route of the package has the types of the contract, in requests and in responses', async () => {
  const contract = JSON.stringify(join(ROOT, 'packages/contract/src/index.ts'))
  stranger.write(
    'same.ts',
    `import type { Client, Pages } from '@postroad/sdk'
     import type { Accepted, Reason, RouteAnswer, RouteRequest, Routes, StreamFrameData } from ${contract}
     import type * as published from '@postroad/sdk'
     type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
     type Is<A, B, Name> = Same<A, B> extends true ? never : Name
     type Known<T> = keyof { [K in keyof T as unknown extends T[K] ? never : K]: 1 } & keyof T
     type Requests<A, B, Name> = [A] extends [B] ? Is<Pick<A, Known<B> & keyof A>, Pick<B, Known<B>>, Name> : Name
     type Answer<P> = P extends Pages<infer _, infer Page> ? Page : Awaited<P>
     type Rooms = { [Room in keyof Routes]: { [Verb in keyof Routes[Room]]:
       Room extends keyof Client ? Verb extends keyof Client[Room]
         ? Client[Room][Verb] extends (...given: infer Given extends readonly unknown[]) => infer Returned
           ? | Requests<NonNullable<Given[0]>, NonNullable<RouteRequest<Routes[Room][Verb]>>, [Room, Verb, 'request']>
             | Is<Answer<Returned>, RouteAnswer<Routes[Room][Verb]>, [Room, Verb, 'response']>
           : [Room, Verb] : [Room, Verb] : [Room, Verb]
     }[keyof Routes[Room]] }[keyof Routes]
     const none = <T extends never>(): T[] => []
     none<Rooms>()
     none<Is<keyof Client, keyof Routes, 'rooms'>>()
     none<Is<published.Accepted, Accepted, 'Accepted'>>()
     none<Is<published.Reason, Reason, 'Reason'>>()
     none<Is<published.StreamFrameData, StreamFrameData, 'StreamFrameData'>>()`,
  )
  const own = { allowImportingTsExtensions: true, skipLibCheck: true, exactOptionalPropertyTypes: false }
  const options = { ...NODE_NEXT, ...own, lib: ['es2024', 'dom'], target: 'es2024' }
  assert.equal(await stranger.complaints(['same.ts'], options), '')
})
