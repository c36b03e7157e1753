"""The official Python client at /mcp: an agent that sets a sender up, tries a rule, deletes it and undoes that.

The test that starts this sends the address and the key in the environment, and reads one JSON object from stdout.
"""

import asyncio
import json
import os
import sys

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def walk(mode: str) -> dict:
    headers = {"Authorization": f"Bearer {os.environ['MCP_KEY']}"}
    http = create_mcp_http_client(headers=headers)
    async with http, Client(streamable_http_client(os.environ["MCP_URL"], http_client=http), mode=mode) as client:

        async def call(tool: str, /, **arguments: object) -> dict:
            result = await client.call_tool(tool, arguments)
            if result.is_error:
                raise RuntimeError(f"{tool}: {result.content}")
            # The text and the structured content are the same.
            assert json.loads(result.content[0].text) == result.structured_content, tool
            return result.structured_content

        tools = (await client.list_tools()).tools
        me = await call("whoami")
        hook = (await call("endpoint_create", name=f"From Python ({mode})", dataset="python"))["webhook"]
        tried = await call(
            "rule_test",
            conditions=[{"path": "amount", "op": "gt", "value": 100}],
            payloads=[{"amount": 250}, {"amount": 20}],
        )
        rule = (await call("rule_create", name=f"Large ({mode})", dataset="large"))["rule"]
        deletion = (await call("rule_delete", id=rule["id"]))["deletion"]
        listed = [one["id"] for one in (await call("deletions_list"))["deletions"]]
        restored = (await call("deletion_restore", id=deletion["id"]))["restored"]
        refused = await client.call_tool("rule_delete", {"id": "rul_00000000000000000000000000"})
        resources = (await client.list_resources()).resources
        prompts = (await client.list_prompts()).prompts
        return {
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "role": me["role"],
            "public_url": hook["public_url"],
            "matched": [one["matched"] for one in tried["results"]],
            "listed": deletion["id"] in listed,
            "restored": restored["id"] == rule["id"],
            "refused": [refused.is_error, refused.structured_content["reason"]],
            "resources": len(resources),
            "prompts": sorted(prompt.name for prompt in prompts),
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(walk(sys.argv[1]))))
