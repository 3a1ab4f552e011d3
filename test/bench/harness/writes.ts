import { Socket } from 'node:net'

/**
 * Counts all writes of this process to sockets from now on. Returns a function that returns the count. Each
 * write begins a round trip.
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
