import { messageOf } from '../../stores/store-error.js'
import { readTimeZone, type TimeZone } from '../../util/time-zone.js'
import { UsageError } from '../failures.js'

/** Returns the zone that the option `--time-zone` names: UTC without it. */
export function readZone(name = 'UTC'): TimeZone {
  try {
    return readTimeZone('cli', '--time-zone', name)
  } catch (error) {
    const [, near] = /Did you mean .*'(.+)'/.exec(messageOf(error)) ?? []
    const must = 'a time zone such as Europe/Berlin, or an offset such as +02:00'
    const fix = near === undefined ? '' : `; did you mean ${near}?`
    throw new UsageError(`--time-zone must be ${must}, got ${JSON.stringify(name)}${fix}`)
  }
}
