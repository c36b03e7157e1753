import { created, type Asked, type Place } from './admin-asking.ts'
import { withId } from './example-resources.ts'

export const TRANSFORM_CODE = 'function transform(event) { return { body: { of: event.data } } }'

export const aTransformIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'transforms', { code: TRANSFORM_CODE })).transform.id)
