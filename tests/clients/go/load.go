// Uploads a file, plans, imports and waits, with the client that oapi-codegen has made.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path"
	"time"

	"github.com/google/uuid"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func reported(report *Report, problem *Problem) Report {
	if report == nil {
		log.Fatalf("%+v", problem)
	}
	return *report
}

func main() {
	ctx := context.Background()
	sign := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("MILLRACE"), WithRequestEditorFn(sign))
	check(err)
	content, err := os.ReadFile(os.Getenv("FILE"))
	check(err)

	name := "filename " + base64.StdEncoding.EncodeToString([]byte("orders.csv"))
	begun, err := client.BeginAnUploadWithResponse(ctx, &BeginAnUploadParams{
		TusResumable: "1.0.0", UploadLength: len(content), UploadMetadata: &name,
	})
	check(err)
	file, err := uuid.Parse(path.Base(begun.HTTPResponse.Header.Get("Location")))
	check(err)
	part := &SendAPartParams{TusResumable: "1.0.0", UploadOffset: 0}
	sent, err := client.SendAPartWithBodyWithResponse(ctx, file, part, "application/octet-stream", bytes.NewReader(content))
	check(err)
	if sent.StatusCode() != http.StatusNoContent {
		log.Fatal(sent.Status())
	}

	target, table, none := "warehouse", "orders", "order"
	refused, err := client.PlanWithResponse(ctx, ImportIn{File: &file, Target: &target, Table: &none})
	check(err)
	wanted := ImportIn{File: &file, Target: &target, Table: &table}
	answer, err := client.PlanWithResponse(ctx, wanted)
	check(err)
	planned := reported(answer.JSON200, answer.ApplicationproblemJSONDefault)
	key := uuid.NewString()
	started, err := client.StartImportWithResponse(ctx, &StartImportParams{IdempotencyKey: &key}, wanted)
	check(err)
	report := reported(started.JSON201, started.ApplicationproblemJSONDefault)
	for until := time.Now().Add(90 * time.Second); report.Outcome == nil && time.Now().Before(until); {
		time.Sleep(200 * time.Millisecond)
		shown, err := client.ShowImportWithResponse(ctx, *report.Job)
		check(err)
		report = reported(shown.JSON200, shown.ApplicationproblemJSONDefault)
	}
	code := refused.ApplicationproblemJSONDefault.Code
	check(json.NewEncoder(os.Stdout).Encode([]any{code, planned.Outcome, report.Outcome, report.Balanced}))
}
