/** Milliseconds since the Unix epoch when the transaction began, with microseconds behind the point. */
export const NOW = "(date_part('epoch', now()) * 1000)"
/** The same at this moment. */
export const CLOCK = "(date_part('epoch', clock_timestamp()) * 1000)"

/** A number, or an array of numbers, with all of its bytes: how a server writes them as text depends on `extra_float_digits`. */
export function sent(expression: string, kind: 'float8' | 'array' = 'float8'): string {
  return `encode(${kind === 'array' ? 'array_send' : 'float8send'}(${expression}), 'hex')`
}
