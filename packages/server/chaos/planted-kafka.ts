import { produceV7 } from '@platformatic/kafka'

const NO_ACKS = 0

/** Every event counts as stored when its bytes are in the socket, because the broker is asked for no answer. */
export function produceWithoutAcks(): void {
  const { api } = produceV7
  const produce = api.async
  // oxlint-disable-next-line max-params -- the shape of the library
  api.async = (connection, _acks, timeout, topicData, options) =>
    produce(connection, NO_ACKS, timeout, topicData, options)
}
