import { Socket } from 'node:net'

/**
 * Counts what this process writes to sockets from now on, whoever does; the function that comes back tells
 * how often since. Each write sets out on a round trip.
 */
export function countWrites(): () => number {
  let writes = 0
  const { write } = Socket.prototype
  Socket.prototype.write = function countedWrite(this: Socket, ...args: unknown[]): boolean {
    writes++
    return Reflect.apply(write, this, args)
  }
  return () => writes
}
