import type { About } from '../../about.ts'
import { EXAMPLE_PAYLOAD } from '../../openapi/example-id.ts'
import { Transform, TransformTest, type transforms } from './transforms.ts'

const CODE = 'export function transform(event) {\n  return { body: { text: `Order ${event.data.id}` } }\n}'

export const about = {
  text: 'Transforms change the requests to destinations with JavaScript, for what templates cannot say.',
  refusals: {
    create: ['name_taken', 'transform_limit_reached'],
    update: ['name_taken'],
    remove: ['transform_in_use'],
  },
  schemas: { Transform, TransformTest },
  bodies: {
    create: { name: 'Order to text', language: 'js', code: CODE },
    update: { code: CODE },
    test: { code: CODE, payload: EXAMPLE_PAYLOAD },
  },
  members: { Transform: { name: 'Order to text' } },
} satisfies About<typeof transforms>
