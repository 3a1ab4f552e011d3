const { AsyncLocalStorage } = require('node:async_hooks')

/** Those that were used since `disableStorages` was called. */
const storages = new Set()

for (const name of ['run', 'enterWith']) {
  const method = AsyncLocalStorage.prototype[name]
  AsyncLocalStorage.prototype[name] = function recorded(...args) {
    storages.add(this)
    return method.apply(this, args)
  }
}

/**
 * Disables each `AsyncLocalStorage` that a test file used. jest-circus 30.5 makes one for each test file and
 * never disables it, and Node.js 20 and 22 hand every new promise on to each enabled storage of the process.
 * The 150th file of a worker would pay for 149 others.
 */
exports.disableStorages = function disableStorages() {
  for (const storage of storages) storage.disable()
  storages.clear()
}
