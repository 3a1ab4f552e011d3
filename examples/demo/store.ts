import { memoryStore, type Store } from 'headgate'

/** The one place where the demo's store is made: this process's memory. */
export function demoStore(): Store {
  return memoryStore()
}
