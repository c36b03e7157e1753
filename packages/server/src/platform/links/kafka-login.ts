import { saslPlain, saslScramSha, type SASLCustomAuthenticator } from '@platformatic/kafka'
import { LinkFailure } from './failure.ts'

/** As many as the client of PostgreSQL accepts. A Kafka broker asks for 4096 unless its user was made with more. */
const ITERATIONS_MAX = 100_000

/** The broker chooses the work that SCRAM costs this process, so it has a bound. */
const BOUNDED: saslScramSha.ScramCryptoModule = {
  ...saslScramSha.defaultCrypto,
  // oxlint-disable-next-line max-params -- the shape of the library
  hi: async (definition, password, salt, iterations) => {
    if (iterations > ITERATIONS_MAX)
      throw new LinkFailure(
        'refused',
        `The broker demands ${iterations} iterations of SCRAM, and Postroad does at most ${ITERATIONS_MAX}. Create the user with fewer.`,
      )
    return saslScramSha.hi(definition, password, salt, iterations)
  },
}

/**
 * Logs in by PLAIN or SCRAM. The library reads answers of the broker without a guard, so an answer that it cannot read
 * would end the process. Here it fails the login.
 */
// oxlint-disable-next-line max-params -- the shape of the library
export const logIn: SASLCustomAuthenticator = (mechanism, connection, ask, name, password, _token, done) => {
  // oxlint-disable-next-line max-params, typescript/no-unsafe-type-assertion -- as above; the library calls it with a callback
  const asking = ((at, bytes, answered) =>
    ask(at, bytes, (error, response) => {
      try {
        answered?.(error, response)
      } catch {
        done(
          new LinkFailure('refused', 'The broker answered the login with something that Postroad cannot read.'),
          response,
        )
      }
    })) as typeof ask
  if (name === undefined || password === undefined) return done(new Error('There is no user.'))
  if (mechanism === 'PLAIN') return saslPlain.authenticate(asking, connection, name, password, done)
  const algorithm = mechanism === 'SCRAM-SHA-256' ? 'SHA-256' : 'SHA-512'
  return saslScramSha.authenticate(asking, connection, algorithm, name, password, BOUNDED, done)
}
