/** The route that @fastify/autoload makes of this folder: `/route/login`, and the same with a slash. */
module.exports = async (scope, { guard, check }) => scope.post('/', { preHandler: guard }, check)
