import { z } from 'zod'

/** Settings of image models: besides those of `shape` any keys, with strings, numbers and arrays (reference, `ImageConfig`). */
export function imageParameters<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .looseObject(shape)
    .refine((parameters) => Object.values(parameters).every(isImageParameter), {
      error: 'must hold strings, numbers and arrays alone',
    })
    .meta({ additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'array', items: {} }] } })
}

function isImageParameter(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || Array.isArray(value)
}
