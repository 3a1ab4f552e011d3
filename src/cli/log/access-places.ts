import type { HeadPlaces } from './head-client.js'
import { fieldsOf } from './line-fields.js'
import type { FieldSources } from './line-reader.js'

/** Where the values of a line begin; -1 for one that is not there. */
export interface Places extends HeadPlaces {
  time: number
  request: number
}

/** Returns the numbers of the fields that begin at these places. */
export function sourcesOf(line: string, places: Places): FieldSources {
  const fields = fieldsOf(line)
  const nameOf = (place: number) => {
    const index = fields.findLastIndex(({ start }) => start <= place)
    return place < 0 || index < 0 ? undefined : `field ${index + 1}`
  }
  const request = nameOf(places.request)
  return {
    address: nameOf(places.address),
    forwarded: nameOf(places.forwarded),
    user: nameOf(places.user),
    time: nameOf(places.time),
    method: request,
    path: request,
  }
}
