import type { About } from '../../about.ts'
import { EXAMPLE_PAYLOAD } from '../../openapi/example-id.ts'
import { Transform, TransformTest, TransformVersion, type transforms } from './transforms.ts'

const CODE = 'export function transform(event) {\n  return { body: { text: `Order ${event.data.id}` } }\n}'

export const about = {
  text: 'Transforms change the requests to destinations with JavaScript, for what templates cannot say.',
  refusals: {
    create: ['name_taken', 'transform_limit_reached'],
    update: ['name_taken'],
    remove: ['transform_in_use'],
  },
  schemas: { Transform, TransformTest, TransformVersion },
  bodies: {
    create: { name: 'Order to text', language: 'js', code: CODE },
    update: { code: CODE },
    test: { code: CODE, payload: EXAMPLE_PAYLOAD },
  },
  members: {
    Transform: {
      name: 'Order to text',
      code: CODE,
      used_by: [{ kind: 'destination', id: 'dst_01m8e5mdgye2pshjvxnj5hj327', name: 'Shop' }],
    },
    TransformVersion: { code: CODE },
    TransformTest: {
      ok: true,
      result: { body: { text: 'Order 7' } },
      before: { id: 'rec_01m8e5mdgye2pshjvxnj5hj327', data: { id: 7 }, body: { id: 7 } },
      changes: [{ path: '/body/id', before: 7 }],
      lines: ['id 7'],
      error: null,
    },
  },
} satisfies About<typeof transforms>
