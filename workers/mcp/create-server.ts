import { type CallToolResult, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import packageJson from '../../package.json' with { type: 'json' }
import { httpErrorFrom } from '../http/error-from.ts'
import type { XrpcDeps } from '../xrpc/deps.ts'
import { argumentSchema } from './argument-schema.ts'
import { errorText } from './error-text.ts'
import { FILE_TEMPLATE, MAX_RESOURCE, readFileResource } from './file-resource.ts'
import { INSTRUCTIONS } from './instructions.ts'
import type { Tool } from './tool.ts'
import { TOOLS } from './tools.ts'

const schemas = new Map(TOOLS.map((tool) => [tool.name, argumentSchema(tool)]))

/**
 * A server for one request: it keeps nothing.
 *
 * @param request nothing but the credentials of the request that came
 */
export function createServer(deps: XrpcDeps, request: Request): McpServer {
  const server = new McpServer(
    { name: 'skein', title: 'Skein', version: packageJson.version },
    // What there is does not change while a client is connected.
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
    },
  )
  for (const tool of TOOLS) {
    const { name, title, description } = tool
    const config = { title, description, inputSchema: schemas.get(name)!, annotations: annotationsOf(tool) }
    server.registerTool(name, config, (args) => callTool(tool, { args, deps, request }))
  }
  server.registerResource(
    'file',
    new ResourceTemplate(FILE_TEMPLATE, { list: undefined }),
    {
      title: 'File',
      description: `A file of a repository at a revision (branch, tag, commit id or HEAD), up to ${MAX_RESOURCE / 1024 / 1024} MiB. Percent-encode the parts: a branch agents/7 is agents%2F7.`,
    },
    (uri, variables) => readFileResource(deps, uri.href, variables),
  )
  return server
}

function annotationsOf({ writes = false }: Tool) {
  // Nothing is lost by any of them: what a commit deletes is in the history.
  return { readOnlyHint: !writes, openWorldHint: true, ...(writes ? { destructiveHint: false } : {}) }
}

async function callTool(tool: Tool, call: Parameters<Tool['run']>[0]): Promise<CallToolResult> {
  try {
    const { text, facts } = await tool.run(call)
    return {
      content: text.map((block) => ({ type: 'text', text: block })),
      ...(facts === undefined ? {} : { structuredContent: facts }),
    }
  } catch (error) {
    return { content: [{ type: 'text', text: errorText(httpErrorFrom(error), tool.name) }], isError: true }
  }
}
