/** Ends the servers that `shared-databases.cjs` has started. */
module.exports = async () => {
  await Promise.all((globalThis.sharedDatabases ?? []).map((server) => server.stop()))
}
