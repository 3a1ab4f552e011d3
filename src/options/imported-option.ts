import { wrongKind } from '../util/validate.js'
import { isObject } from '../util/values.js'

/**
 * Returns what an option brings that a function makes, so that only applications that call `maker` bundle
 * its code. It is the value of a registered symbol, which the copies of this package share. Throws a
 * `TypeError` for any other value, such as the `example` of the arguments without the call.
 */
export function readImported(
  owner: string,
  option: string,
  value: unknown,
  symbol: symbol,
  maker: string,
  example: string,
): unknown {
  if (isObject(value) && symbol in value) return value[symbol as never]
  throw wrongKind(owner, option, `what ${maker} returns`, value, `Write ${option}: ${maker}(${example}).`)
}
