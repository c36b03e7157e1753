import { produceV7 } from '@platformatic/kafka'

const NO_ACKS = 0

/** The client requests no acknowledgment, so an event counts as stored as soon as its bytes are in the socket. */
export function produceWithoutAcks(): void {
  const { api } = produceV7
  const produce = api.async
  // oxlint-disable-next-line max-params -- the shape of the library
  api.async = (connection, _acks, timeout, topicData, options) =>
    produce(connection, NO_ACKS, timeout, topicData, options)
}
